/** Nodes: which agent works in each, and those without an agent as steps. */
import type { RunRow } from '../run-row.ts';
import type { ConversationDraft } from './draft.ts';
import type { StepItem } from './items.ts';

const statusAfter: Readonly<Record<string, StepItem['status']>> = {
  'node.completed': 'completed',
  'node.failed': 'failed',
  'node.skipped': 'skipped',
  'node.cancelled': 'cancelled',
  'node.suspended': 'waiting',
  'node.resumed': 'running',
};

export function takeStep(draft: ConversationDraft, row: RunRow): void {
  const { nodeId, at } = row;
  if (nodeId === undefined) return;
  if (row.type === 'agent.invocation.started') {
    draft.agents.set(nodeId, row.payload.agentId);
    return;
  }
  if (row.type === 'node.started') {
    const { agent, typeId, inputs, attempt = 0 } = row.payload;
    if (agent !== undefined) draft.agents.set(nodeId, agent.agentId);
    else if (attempt === 0)
      draft.steps.set(
        nodeId,
        draft.add(row, { kind: 'step', typeId, inputs, outputs: undefined, status: 'running', endAt: null }),
      );
    return;
  }
  const status = statusAfter[row.type];
  const place = draft.steps.get(nodeId);
  if (status === undefined || place === undefined) return;
  const isEnd = status !== 'waiting' && status !== 'running';
  const outputs = row.type === 'node.completed' ? row.payload.outputs : undefined;
  draft.change(row, ['step', place], () => ({ status, outputs, endAt: isEnd ? at : null }));
  if (isEnd) draft.steps.delete(nodeId);
}
