/** The description of a node type for authors. Registration checks references against its outputs and ports. */
/** What an author needs to know about a node type, besides the schema of its settings. */
export interface NodeDoc {
  readonly summary: string;
  /** What each setting does. */
  readonly settings: Readonly<Record<string, string>>;
  /** The inputs that it reads by name. */
  readonly inputs?: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>>;
  /** Which outputs there may be besides. Without it, there are no others. */
  readonly otherOutputs?: string;
  /** The output ports besides `output` and the names of the outputs. */
  readonly ports?: Readonly<Record<string, string>>;
}
