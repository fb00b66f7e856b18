/** Trigger rules: the five rules that decide, from the outcomes of its incoming edges, whether a node may start. */
import type { TriggerRule } from '@cairn/protocol';
import type { EdgeOutcome } from './state.ts';

/** Outcome counts of a node's forward edges with the same rule. */
export interface Tally {
  readonly total: number;
  readonly taken: number;
  readonly notTaken: number;
  readonly failed: number;
}

/** `open`: more outcomes are needed. `dead`: no further outcome can make the rule hold. */
export type RuleState = 'holds' | 'open' | 'dead';

export function verdict(rule: TriggerRule, { total, taken, notTaken, failed }: Tally): RuleState {
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

/** Returns true if a back edge re-enters its target. A back edge does so alone, without waiting for other edges. */
export function reenters(rule: TriggerRule, outcome: EdgeOutcome): boolean {
  if (outcome === 'not-taken') return false;
  if (rule === 'all_complete') return true;
  return outcome === (rule === 'any_failed' ? 'failed' : 'taken');
}

/** Returns true if an edge with this rule lets the run continue after its source has failed. */
export const handlesFailure = (rule: TriggerRule): boolean => rule === 'all_complete' || rule === 'any_failed';
