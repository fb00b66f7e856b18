/** Folds the first own row of a branch: what the fork changes of the state that it shares with its source. */
import type { EventOf } from '../events/event.ts';
import { own, put } from './dictionary.ts';
import { forwardToUser, oldestWait } from './interrupts.ts';
import { resumeNode } from './nodes.ts';
import type { RunView } from './run-view.ts';
import { statusOf } from './status.ts';
import { seedVariables } from './variables.ts';

/** The time between the cut and the fork, which a branch does not notice. `before` is the time of the last shared row. */
export const forkGapMs = ({ at, payload }: EventOf<'cairn.run.forked'>, before: number): number =>
  Math.max(0, at - Math.max(before, payload.cutAt ?? before));

/** A pause or a cancellation of the source does not hold for a branch, and its waits last as long as they had left. */
export function forkView(view: RunView, { payload }: EventOf<'cairn.run.forked'>, gapMs: number): void {
  const { contextId, toolScopes, overlay = {}, children = {}, parentRunId, forkedBy } = payload;
  // An answer and the row that resumes its node are one fact, which the cut may divide.
  for (const [nodeId, { status, interruptId }] of Object.entries(view.nodeStates)) {
    if (status !== 'suspended' || interruptId === null || Object.hasOwn(view.interrupts, interruptId)) continue;
    resumeNode(view, nodeId);
  }
  view.gapMs = (view.gapMs ?? 0) + gapMs;
  view.status = statusOf(view.waits);
  view.currentNodeId = oldestWait(view)?.nodeId ?? null;
  if (contextId !== undefined) view.contextId = contextId;
  if (toolScopes !== undefined) view.toolScopes = toolScopes;
  // Who forks a run acts for themselves: its tools never use the credentials of the user who started the source.
  view.owner = ownerOf(view, forkedBy);
  view.parentRunId = parentRunId ?? null;
  if (parentRunId === undefined) {
    view.parentNodeId = null;
    // A root has no agent above it.
    for (const interruptId of Object.keys(view.interrupts)) forwardToUser(view, interruptId);
  }
  if (overlay.inputs !== undefined) {
    view.inputs = { ...view.inputs, ...overlay.inputs };
    view.variables = seedVariables(view.variables, overlay.inputs);
  }
  if (overlay.configurable !== undefined) view.configurable = { ...view.configurable, ...overlay.configurable };
  if (overlay.metadata !== undefined) view.metadata = { ...view.metadata, ...overlay.metadata };
  if (overlay.tags !== undefined) view.tags = overlay.tags;
  for (const interrupt of Object.values(view.interrupts)) {
    if (interrupt.expiresAt === null) continue;
    put(view.interrupts, interrupt.interruptId, { ...interrupt, expiresAt: interrupt.expiresAt + gapMs });
  }
  view.subtasks = Object.fromEntries(
    Object.entries(view.subtasks).map(([childRunId, nodeId]) => [own(children, childRunId) ?? childRunId, nodeId]),
  );
  view.childRuns = view.childRuns.map((child) => ({ ...child, runId: own(children, child.runId) ?? child.runId }));
}

function ownerOf({ owner }: RunView, principal: string | undefined): RunView['owner'] {
  if (owner === null) return null;
  const { principal: _, ...rest } = owner;
  return { ...rest, ...(principal !== undefined && { principal }) };
}
