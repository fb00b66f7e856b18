/** Passes the rows of driven nodes to their drivers and folds the changes the drivers report. */
import type { FoldEvent } from '@cairn/protocol';
import type { RunChange } from '../../workflow/driven-calls.ts';
import type { Workflow } from '../../workflow/workflow.ts';
import { nodeById } from '../node-of.ts';
import type { RunState } from '../state.ts';
import { closeDriven, openDriven } from './calls.ts';
import { decided } from './orchestration.ts';

/** Returns false for rows of other nodes. */
export function drive(state: RunState, workflow: Workflow, event: FoldEvent): boolean {
  const { nodeId } = event;
  if (nodeId === undefined) return false;
  const [inner, active] = [state.inner[nodeId], state.active[nodeId]];
  if (inner === undefined || active === undefined) return false;
  const { driver } = nodeById(workflow, nodeId).type;
  const change = driver?.runChange?.(event) ?? null;
  if (change !== null) changeRun(state, event, nodeId, change);
  const { visit, attempt } = active;
  driver?.evolve(inner, event, { nodeId, visit, attempt, idToken: state.view.idToken });
  return true;
}

function changeRun(state: RunState, { seq, at }: FoldEvent, nodeId: string, change: RunChange): void {
  switch (change.kind) {
    case 'call-opened':
      openDriven(state, { ...change.call, nodeId, requestedSeq: seq, requestedAt: at });
      break;
    case 'call-closed':
      closeDriven(state, change.callId, change.attempt);
      break;
    case 'decided':
      decided(state, { seq, agentId: change.agentId, decision: change.decision });
      break;
  }
}
