/** What a command may touch of the process it runs in. */

export interface Terminal {
  readonly version: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder the command was started in. */
  readonly cwd: string;
  /** How wide the screen behind stdout is; null when it is a file or a pipe, which take lines of any length. */
  readonly columns: number | null;
  /** Whether stdout and stderr show colours. */
  readonly colours: { readonly out: boolean; readonly err: boolean };
  /** Whether a person can be asked. */
  readonly isInteractive: boolean;
  now(): number;
  /** One line of result, on stdout. */
  print(line: string): void;
  /** One line of everything else, on stderr. */
  tell(line: string): void;
  /** Text that leaves its line open, on either of them; with line breaks of its own. */
  part(stream: 'out' | 'err', text: string): void;
  /** Asks the person for one line; null when there is nobody (any more). Rejects once the signal is aborted. */
  ask(question: string, signal: AbortSignal): Promise<string | null>;
  exit(code: number): void;
  /** Called for each request to stop (Ctrl-C, SIGTERM). */
  onSignal(handle: () => void): void;
}
