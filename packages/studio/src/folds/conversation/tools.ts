/** Calls of tools: their progress, their attempts and their results. */
import type { RunRow } from '../run-row.ts';
import type { ConversationDraft } from './draft.ts';
import type { ToolItem } from './items.ts';

export function takeTool(draft: ConversationDraft, row: RunRow): void {
  switch (row.type) {
    case 'agent.toolCalled':
      takeCall(draft, row);
      return;
    case 'cairn.tool.progress': {
      const progress = row.payload;
      draft.change(row, ['tool', draft.placeOf(`tool:${progress.callId}`)], () => ({ progress }));
      return;
    }
    case 'agent.toolReturned':
      takeResult(draft, row);
      return;
  }
}

function takeCall(draft: ConversationDraft, row: Extract<RunRow, { type: 'agent.toolCalled' }>): void {
  const { callId, toolName, inputs, agentId, rule, attempt = 1 } = row.payload;
  const name = `tool:${callId}`;
  const place = draft.placeOf(name);
  if (draft.item('tool', place) !== null) {
    draft.change(row, ['tool', place], (item) => ({
      status: 'running',
      attempts: Math.max(attempt, item.attempts + 1),
      endAt: null,
      progress: null,
    }));
    return;
  }
  draft.add(row, { ...newCall, callId, tool: toolName, inputs, rule, attempts: attempt }, name, agentId);
}

const newCall = {
  kind: 'tool',
  status: 'running',
  progress: null,
  result: undefined,
  error: null,
  endAt: null,
  isReused: false,
  remote: null,
} as const satisfies Partial<ToolItem>;

function takeResult(draft: ConversationDraft, row: Extract<RunRow, { type: 'agent.toolReturned' }>): void {
  const { callId, outcome, result, error, reusedFrom, remote } = row.payload;
  draft.change(row, ['tool', draft.placeOf(`tool:${callId}`)], () => ({
    status: error === undefined ? 'ok' : 'failed',
    result: outcome ?? result,
    error: error === undefined ? null : { code: error.code, message: error.message },
    endAt: row.at,
    isReused: reusedFrom !== undefined,
    remote: remote === undefined ? null : { runId: remote.runId, hostId: remote.hostId },
  }));
}
