/** The question of an interrupt as text for a person. */
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { InterruptView } from './interrupts.ts';

export function promptOf({ kind, data }: Pick<InterruptView, 'kind' | 'data'>): string {
  const words = [data.prompt, data.title, data.initialPrompt, questionsOf(data), signInOf(data)].find(
    (text) => typeof text === 'string' && text !== '',
  );
  if (typeof words === 'string') return words;
  if (kind === 'external-event') return `Waiting for the event ${String(data.eventType)}.`;
  if (kind === 'low-confidence') return 'Confirm the decision.';
  return `Answer needed: ${String(data.customKind ?? kind)}.`;
}

function questionsOf(data: JsonObject): string {
  if (!Array.isArray(data.questions)) return '';
  return data.questions.map(wordsOf).join('\n');
}

const wordsOf = (item: Json): Json => (isJsonObject(item) ? (item.question ?? '') : '');

/** The prompt of a sign-in. Other external events have none. */
function signInOf({ correlation }: JsonObject): Json | undefined {
  return isJsonObject(correlation) && typeof correlation.authType === 'string' ? correlation.prompt : undefined;
}
