/** What a verification found. */
import type { RunId } from '@cairn/protocol';

export interface Problem {
  /** Null for a problem of the whole folder. */
  readonly runId: RunId | null;
  /** The event; null if the problem is not in one. */
  readonly seq: number | null;
  readonly message: string;
}

/** Takes the problems of one run. */
export type ReportProblem = (seq: number | null, message: string) => void;
