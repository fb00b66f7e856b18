/** When a node may start: the five rules over the outcomes of its incoming edges. */
import type { TriggerRule } from '@cairn/protocol';
import type { EdgeOutcome } from './state.ts';

/** Outcomes counted over a node's forward edges of one rule. */
export interface Tally {
  readonly total: number;
  readonly taken: number;
  readonly notTaken: number;
  readonly failed: number;
}

/** `open`: wait for more outcomes; `dead`: no outcome to come can make it hold. */
export type Verdict = 'holds' | 'open' | 'dead';

export function verdict(rule: TriggerRule, { total, taken, notTaken, failed }: Tally): Verdict {
  const settled = taken + notTaken + failed === total;
  switch (rule) {
    case 'all_success':
      return taken === total ? 'holds' : notTaken + failed > 0 ? 'dead' : 'open';
    case 'any_success':
      return taken > 0 ? 'holds' : settled ? 'dead' : 'open';
    case 'all_complete':
      return settled ? 'holds' : 'open';
    case 'none_failed':
      if (failed > 0) return 'dead';
      return !settled ? 'open' : taken > 0 ? 'holds' : 'dead';
    case 'any_failed':
      return failed > 0 ? 'holds' : settled ? 'dead' : 'open';
  }
}

/** Whether a back edge re-enters its target: by itself, without waiting for others. */
export function reenters(rule: TriggerRule, outcome: EdgeOutcome): boolean {
  if (outcome === 'not-taken') return false;
  if (rule === 'all_complete') return true;
  return outcome === (rule === 'any_failed' ? 'failed' : 'taken');
}

/** Whether an edge with this rule lets the run go on after its source has failed. */
export const handlesFailure = (rule: TriggerRule): boolean => rule === 'all_complete' || rule === 'any_failed';
