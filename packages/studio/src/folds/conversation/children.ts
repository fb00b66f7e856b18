/** Child runs, from the request to the end. */
import type { RunRow } from '../run-row.ts';
import type { ConversationDraft } from './draft.ts';
import type { ChildStatus } from './items.ts';

const endOfPhase: Readonly<Record<string, ChildStatus>> = {
  'child.completed': 'completed',
  'child.failed': 'failed',
  'child.cancelled': 'cancelled',
  'dispatch.failed': 'failed',
};

export function takeChild(draft: ConversationDraft, row: RunRow): void {
  switch (row.type) {
    case 'cairn.step.requested': {
      const { childRunId, childWorkflowId = '', prompt } = row.payload;
      if (childRunId !== undefined) begin(draft, row, { childRunId, workflowId: childWorkflowId, prompt });
      return;
    }
    case 'node.dispatched': {
      const { childRunId, childWorkflowId } = row.payload;
      begin(draft, row, { childRunId, workflowId: childWorkflowId, prompt: undefined });
      return;
    }
    case 'cairn.step.returned': {
      const { childRunId, outcome, error } = row.payload;
      if (childRunId !== undefined) end(draft, row, [childRunId, error === undefined ? statusIn(outcome) : 'failed']);
      return;
    }
    case 'core.workflowChain.event': {
      const { childRunId, phase } = row.payload;
      const status = endOfPhase[phase];
      if (childRunId !== undefined && status !== undefined) end(draft, row, [childRunId, status]);
      return;
    }
  }
}

interface Begun {
  readonly childRunId: string;
  readonly workflowId: string;
  readonly prompt: string | undefined;
}

function begin(draft: ConversationDraft, row: RunRow, child: Begun): void {
  const name = `child:${child.childRunId}`;
  if (draft.placeOf(name) < 0) draft.add(row, { kind: 'child', ...child, status: 'running' }, name);
}

const end = (draft: ConversationDraft, row: RunRow, [childRunId, status]: readonly [string, ChildStatus]): void =>
  draft.change(row, ['child', draft.placeOf(`child:${childRunId}`)], () => ({ status }));

function statusIn(outcome: unknown): ChildStatus {
  const status = typeof outcome === 'object' && outcome !== null && 'status' in outcome ? outcome.status : undefined;
  return status === 'failed' || status === 'cancelled' ? status : 'completed';
}
