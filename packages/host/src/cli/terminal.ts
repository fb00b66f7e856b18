/** The parts of the process that a command may use. Tests replace it. */

export interface Terminal {
  readonly version: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working folder. */
  readonly cwd: string;
  /** The width of the screen behind stdout; null for a file or a pipe, where lines have any length. */
  readonly columns: number | null;
  /** Whether stdout and stderr show colours. */
  readonly colours: { readonly out: boolean; readonly err: boolean };
  /** Whether the command can ask a person. */
  readonly isInteractive: boolean;
  now(): number;
  /** Prints one line of the result to stdout. */
  print(line: string): void;
  /** Prints one line to stderr. */
  tell(line: string): void;
  /** Writes text without adding a line break. */
  part(stream: 'out' | 'err', text: string): void;
  /** Shows a line on stderr in place of the one that it showed before; an empty one removes it. For screens only. */
  redraw(line: string): void;
  /** Asks the person for one line; null without a person at the terminal or after the end of the input. Rejects when the signal aborts. */
  ask(question: string, signal: AbortSignal): Promise<string | null>;
  exit(code: number): void;
  /** Registers a handler for Ctrl-C and SIGTERM. */
  onSignal(handle: () => void): void;
  /** Registers a handler for rejections that nobody handled, which would end the process otherwise. Returns what removes it. */
  onRejection(handle: (reason: unknown) => void): () => void;
}
