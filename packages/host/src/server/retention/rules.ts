/** Decides which ended trees are older than the rules allow. Pure. */
import type { RunGroup } from '../../log/ports/retention.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';

/** The first rule that matches a run decides. A tree goes once it reaches one of the limits of its rule. */
export interface RetentionRule {
  /** Default: every tenant. */
  readonly tenant?: string | undefined;
  /** Default: every workflow. */
  readonly workflow?: string | undefined;
  /** Days since the end of the root run. */
  readonly afterDays?: number | undefined;
  /** Ended trees of one tenant and workflow that are kept: the newest. */
  readonly keepLast?: number | undefined;
}

const DAY_MS = 86_400_000;

export const ruleFor = (rules: readonly RetentionRule[], { tenant, workflowId }: RunGroup): RetentionRule | null =>
  rules.find((rule) => (rule.tenant ?? tenant) === tenant && (rule.workflow ?? workflowId) === workflowId) ?? null;

/** Takes the runs of a group, newest first, and says of each whether its tree is to go. */
export function expiry({ afterDays, keepLast }: RetentionRule, now: number): (run: RunRecord) => boolean {
  let ended = 0;
  return ({ parentRunId, endedAt, importedAt }) => {
    if (parentRunId !== null || endedAt === null) return false;
    ended += 1;
    if (keepLast !== undefined && ended > keepLast) return true;
    // An import is as old as its stay here.
    return afterDays !== undefined && Math.max(endedAt, importedAt ?? 0) <= now - afterDays * DAY_MS;
  };
}
