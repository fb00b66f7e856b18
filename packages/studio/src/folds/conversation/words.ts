/** What models write and think. */
import type { RunRow } from '../run-row.ts';
import type { ConversationDraft } from './draft.ts';

export function takeWords(draft: ConversationDraft, row: RunRow): void {
  switch (row.type) {
    case 'output.chunk':
      takeChunk(draft, row);
      return;
    case 'cairn.model.abandoned':
      // What this attempt wrote is void; the next attempt writes to the same place. A stop or a fork may leave none.
      draft.change(row, ['text', draft.placeOf(`text:${row.payload.callId}`)], ({ attempts }) => ({
        text: '',
        isDone: true,
        attempts: attempts + 1,
      }));
      return;
    case 'agent.reasoning.delta':
      takeDelta(draft, row);
      return;
    case 'agent.reasoned':
      takeReasoned(draft, row);
      return;
  }
}

function takeChunk(draft: ConversationDraft, row: Extract<RunRow, { type: 'output.chunk' }>): void {
  const { channel, nodeId, chunk, isLast } = row.payload;
  const name = `text:${channel ?? nodeId}`;
  const place = draft.placeOf(name);
  if (draft.item('text', place) !== null) {
    draft.change(row, ['text', place], (item) => ({ text: item.text + chunk, isDone: isLast }));
    return;
  }
  // A turn that only calls tools ends with an empty chunk.
  if (chunk !== '') draft.add(row, { kind: 'text', text: chunk, isDone: isLast, attempts: 1 }, name);
}

function takeDelta(draft: ConversationDraft, row: Extract<RunRow, { type: 'agent.reasoning.delta' }>): void {
  const { agentId, delta } = row.payload;
  const node = row.nodeId ?? '';
  const place = draft.thoughts.get(node);
  if (place !== undefined) {
    draft.change(row, ['thought', place], (item) => ({ text: item.text + delta }));
    return;
  }
  const thought = {
    kind: 'thought',
    text: delta,
    isDone: false,
    thoughtType: 'reasoning',
    confidence: undefined,
  } as const;
  draft.thoughts.set(node, draft.add(row, thought, undefined, agentId));
}

/** The whole thought. It ends the one that was streamed, if the model streamed it. */
function takeReasoned(draft: ConversationDraft, row: Extract<RunRow, { type: 'agent.reasoned' }>): void {
  const { agentId, reasoning, thoughtType, confidence } = row.payload;
  const node = row.nodeId ?? '';
  const place = thoughtType === undefined ? draft.thoughts.get(node) : undefined;
  if (place !== undefined) {
    draft.thoughts.delete(node);
    draft.change(row, ['thought', place], (item) => ({
      text: reasoning === '' ? item.text : reasoning,
      isDone: true,
      confidence,
    }));
    return;
  }
  if (reasoning === '') return;
  const thought = {
    kind: 'thought',
    text: reasoning,
    isDone: true,
    thoughtType: thoughtType ?? 'reasoning',
    confidence,
  } as const;
  draft.add(row, thought, undefined, agentId);
}
