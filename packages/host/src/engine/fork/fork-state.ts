/** What a branch knows of its fork, after `cairn.run.forked`. Plain JSON, part of the run's state. */
import type { CallRule, RunId } from '@cairn/protocol';

export interface ForkState {
  /** seq of the row, and of the first own row of the branch. */
  readonly seq: number;
  readonly sourceRunId: RunId;
  readonly fromSeq: number;
  /** Time between the last shared row and the fork. It counts for no duration and no timer. */
  readonly gapMs: number;
  /** The first rule that matches a call decides; `live` if none does. */
  readonly rules: readonly CallRule[];
  /** System prompts by agent, or by node for a node without an agent. */
  readonly prompts: Readonly<Record<string, string>>;
  /** The overlay names a model, which also holds for invocations that are open at the cut. */
  readonly changesModel: boolean;
  /** seq of the first row of the source that may request a call whose result follows the cut. */
  readonly scanFrom: number;
  /** What a person decided about a call under the rule `ask`, by call. */
  verdicts: Record<string, 'live' | 'reuse'>;
  /** The rows of the source whose results the branch has taken, so that none is taken twice. */
  reused: number[];
}

/** Most results that a branch reuses. Every later call is live, so that the state stays small. */
export const MAX_REUSED = 10_000;
