/** What a command may touch of the process it runs in. */

export interface Terminal {
  readonly version: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One line of result, on stdout. */
  print(line: string): void;
  /** One line of everything else, on stderr. */
  tell(line: string): void;
  exit(code: number): void;
  /** Called for each request to stop (Ctrl-C, SIGTERM). */
  onSignal(handle: () => void): void;
}
