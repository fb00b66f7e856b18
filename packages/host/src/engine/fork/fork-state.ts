/** What a branch and the runs that it starts know of the fork. Plain JSON, part of the run's state. */
import type { CallRule, RunId } from '@cairn/protocol';

export interface ForkState {
  /** seq of the row, and of the first own row of the branch. */
  readonly seq: number;
  /** Null for a run that a branch started: nothing of it is recorded. */
  readonly sourceRunId: RunId | null;
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

/** A run that was cut off another, whose results it may reuse. */
export interface CutState extends ForkState {
  readonly sourceRunId: RunId;
}

export const hasSource = (fork: ForkState): fork is CutState => fork.sourceRunId !== null;

/** What a run hands down to the runs that it starts, if it has any of it. */
export type HandedDown = Pick<ForkState, 'rules' | 'prompts'>;

export function branchBelow(fork: ForkState | undefined): HandedDown | undefined {
  if (fork === undefined) return undefined;
  const { rules, prompts } = fork;
  return rules.length === 0 && Object.keys(prompts).length === 0 ? undefined : { rules, prompts };
}

/** The state of a run that a branch started. All of its calls are made after the cut. */
export const startedByBranch = ({ rules, prompts }: HandedDown): ForkState => ({
  ...{ seq: -1, sourceRunId: null, fromSeq: 0, scanFrom: 0, gapMs: 0, changesModel: false },
  ...{ rules, prompts, verdicts: {}, reused: [] },
});

/** Most results that a branch reuses. Every later call is live, so that the state stays small. */
export const MAX_REUSED = 10_000;
