/** The payload of the first own row of every forked run: its source, and its place in the new tree. */
import type { RunId } from '@cairn/protocol';
import type { PayloadDraft } from '../core/payload-draft.ts';
import type { ForkRun } from '../engine.ts';
import type { CutRun } from './tree-cut.ts';

export function forkedPayload(
  { principal, toolScopes = [], rules = [], runId: about, isRetry = false }: ForkRun,
  { place, tree, parentRunId, children, state }: CutRun,
  cutAt: number,
): PayloadDraft<'cairn.run.forked'> {
  const { runId, source, fromSeq, contextId } = place;
  const scopes = state.view.toolScopes;
  const payload: PayloadDraft<'cairn.run.forked'> = {
    ...{ runId, sourceRunId: source.runId, fromSeq, mode: 'branch', contextId },
    history: { contextId: tree.contextId, cursor: tree.cursor },
  };
  if (principal !== undefined) payload.forkedBy = principal;
  if (isRetry && source.runId === about) payload.retryOf = about;
  if (scopes !== null) payload.toolScopes = sharedScopes(scopes, toolScopes);
  if (rules.length > 0) payload.rules = rules;
  if (cutAt > state.now) payload.cutAt = cutAt;
  if (parentRunId !== null) payload.parentRunId = parentRunId;
  if (hasAny(children)) payload.children = children;
  return payload;
}

/** A fork grants no tool that the starter of the run or the caller of the fork does not have. */
const sharedScopes = (source: readonly string[], caller: readonly string[]): string[] =>
  source.filter((scope) => caller.includes(scope));

function hasAny(children: Readonly<Record<RunId, RunId>>): boolean {
  for (const _ in children) return true;
  return false;
}
