/**
 * Generates human answers: values that fit a question and values that do not, each with a mark to find it in the log.
 */
import { type InterruptView, isJsonObject, type Json } from '@cairn/protocol';
import type { Random } from '../../packages/host/test/kit/random.ts';

export interface DrawnAnswer {
  readonly value: Json;
  /** Whether the value contains the mark, so that the log can be searched for it. */
  readonly marked: boolean;
}

export function rightAnswer(interrupt: InterruptView, mark: string, random: Random): DrawnAnswer {
  switch (interrupt.kind) {
    case 'approval': {
      const { actions } = interrupt.data;
      const refined = { action: 'refine', refineFeedback: { scope: 'whole', text: mark } };
      return marked(
        random.pick<Json>([
          { action: 'accept', feedback: mark },
          { action: 'accept', feedback: mark },
          { action: 'reject', feedback: mark },
          Array.isArray(actions) && actions.includes('refine') ? refined : { action: 'accept', feedback: mark },
        ]),
      );
    }
    case 'clarification': {
      const { questions } = interrupt.data;
      const [first] = Array.isArray(questions) ? questions : [];
      const id = isJsonObject(first) ? String(first.id) : '';
      return marked(random.pick<Json>([{ answers: { [id]: mark } }, { answers: [{ id, answer: mark }] }]));
    }
    case 'external-event':
      return marked({
        eventPayload: { ...(isJsonObject(interrupt.data.correlation) ? interrupt.data.correlation : {}), note: mark },
      });
    default:
      return interrupt.data.customKind === 'cairn.step.interrupted' ? verdict(mark, random) : marked({ note: mark });
  }
}

/** A valid answer to the host's own question about an interrupted write. */
function verdict(mark: string, random: Random): DrawnAnswer {
  const action = random.pick(['retry', 'use', 'fail'] as const);
  return action === 'use' ? marked({ action, result: { note: mark } }) : { value: { action }, marked: false };
}

/** A value that the question's own rules reject. A free-form question accepts anything, so it has none. */
export function wrongAnswer(interrupt: InterruptView): Json | null {
  switch (interrupt.kind) {
    case 'approval':
      return { action: 'explode' };
    case 'clarification':
      return { answers: { none: 7 } };
    case 'external-event':
      return { eventPayload: { order: 'another' } };
    case 'custom':
      return interrupt.data.customKind === 'cairn.step.interrupted' ? { action: 'perhaps' } : null;
    default:
      return null;
  }
}

const marked = (value: Json): DrawnAnswer => ({ value, marked: true });
