/** The form of one entry of the import table. */

/** Ways a file can reach beyond its input. A room lists those it may use. */
export type World = 'clock' | 'random' | 'timer' | 'network' | 'process' | 'console' | 'node';

export interface Room {
  readonly name: string;
  /** A folder or a single file, relative to the repository root. The longest match decides a file's room. */
  readonly path: string;
  /** Rooms (by name) or single files (by path) that it may import besides itself. */
  readonly imports: readonly string[];
  /** npm packages, or any. */
  readonly packages: readonly string[] | 'any';
  /** Node built-ins, or any. */
  readonly builtins: readonly string[] | 'any';
  /** Ambient access. A pure room gets what it needs through ports. */
  readonly world: readonly World[] | 'any';
}
