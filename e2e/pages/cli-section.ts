/** A section of the command-line page: the prose for a verb, and the commands to run. */

export interface Step {
  /** `{name}` is replaced by the run that an earlier step named. */
  readonly command: string;
  /** The person's answers to prompts. Without them, the session is not interactive. */
  readonly says?: readonly string[];
  /** Files to write into the folder first. */
  readonly files?: Readonly<Record<string, string>>;
  /** A name for the printed run. */
  readonly names?: string;
  /** Shows only this many lines. */
  readonly head?: number;
}

export interface Section {
  readonly verb: string;
  /** Subcommands, each with its own help. */
  readonly subVerbs?: readonly string[];
  readonly prose: string;
  readonly steps: readonly Step[];
}
