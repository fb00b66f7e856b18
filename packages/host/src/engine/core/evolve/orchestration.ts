/** Folds supervisor decisions: recorded, taken up by a node, carried out. */
import type { OrchestratorDecision } from '@cairn/protocol';
import type { RunState } from '../state.ts';

export interface RecordedDecision {
  readonly seq: number;
  readonly agentId: string;
  readonly decision: OrchestratorDecision;
}

export function decided(state: RunState, { seq, agentId, decision }: RecordedDecision): void {
  const turns = (state.orchestration?.turns ?? 0) + 1;
  const carried = state.orchestration?.carried ?? {};
  const questions = (state.orchestration?.questions ?? 0) + (decision.kind === 'ask-user' ? 1 : 0);
  state.orchestration = { agentId, turns, questions, pending: { seq, decision }, carried };
}

/** Assigns the pending decision to a node that starts to carry it out. */
export function takeUp(state: RunState, nodeId: string): void {
  const { orchestration } = state;
  if (orchestration === null || orchestration.pending === null) return;
  const carried = { ...orchestration.carried, [nodeId]: orchestration.pending };
  state.orchestration = { ...orchestration, pending: null, carried };
}

export function carriedOut(state: RunState, nodeId: string): void {
  if (state.orchestration === null) return;
  const { [nodeId]: _, ...carried } = state.orchestration.carried;
  state.orchestration = { ...state.orchestration, carried };
}
