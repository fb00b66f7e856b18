/** Questions to people and to agents above, and their answers. */
import type { RunRow } from '../run-row.ts';
import type { ConversationDraft } from './draft.ts';

export function takeQuestion(draft: ConversationDraft, row: RunRow): void {
  switch (row.type) {
    case 'interrupt.requested': {
      const { interruptId, key, kind, data, resumeSchema, agentId, routedTo } = row.payload;
      const id = interruptId ?? key;
      const question = {
        kind: 'question',
        interruptId: id,
        of: kind,
        data,
        resumeSchema,
        isRouted: routedTo === 'agent',
      } as const;
      const open = { status: 'open', answer: undefined, answeredBy: undefined } as const;
      const place = draft.placeOf(`question:${id}`);
      if (draft.item('question', place) === null) draft.add(row, { ...question, ...open }, `question:${id}`, agentId);
      else draft.change(row, ['question', place], () => ({ ...question, ...open }));
      return;
    }
    case 'interrupt.resolved': {
      const { interruptId, resumeValue, resolvedBy, agentId, outcome } = row.payload;
      draft.change(row, ['question', draft.placeOf(`question:${interruptId}`)], () => ({
        status: resumeValue === undefined && outcome !== undefined ? 'closed' : 'answered',
        answer: resumeValue ?? outcome,
        answeredBy: agentId ?? resolvedBy,
      }));
      return;
    }
    case 'cairn.input.forwarded':
      draft.change(row, ['question', draft.placeOf(`question:${row.payload.inputId}`)], () => ({ isRouted: false }));
      return;
  }
}
