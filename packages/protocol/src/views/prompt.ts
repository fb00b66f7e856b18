/** The question of an interrupt as text for a person. */
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { type InterruptView, isClientCall } from './interrupts.ts';

export function promptOf({ kind, data }: Pick<InterruptView, 'kind' | 'data'>): string {
  const words = [data.prompt, data.title, data.initialPrompt, questionsOf(data), signInOf(data)].find(
    (text) => typeof text === 'string' && text !== '',
  );
  if (typeof words === 'string') return words;
  if (data.customKind === 'cairn.step.interrupted' && isJsonObject(data.payload))
    return interruptedPrompt(data.payload);
  if (isClientCall({ kind, data })) return clientPrompt(data.correlation);
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

const clientPrompt = (correlation: Json | undefined): string =>
  isJsonObject(correlation)
    ? `Run ${String(correlation.toolName)}(${argumentsOf(correlation.arguments)}) and send its result.`
    : 'Run the tool and send its result.';

/** Asks about a call that may have taken effect: its result was not recorded. */
function interruptedPrompt({ tool, step, model, inputs }: JsonObject): string {
  if (model !== undefined) return `Was the call of the model ${String(model)} carried out?`;
  return `Was ${String(tool ?? step ?? 'the step')}(${argumentsOf(inputs)}) carried out?`;
}

function argumentsOf(inputs: Json | undefined): string {
  if (!isJsonObject(inputs)) return inputs === undefined || inputs === null ? '' : shown(inputs);
  const names = Object.keys(inputs);
  const pairs = names.slice(0, MAX_ARGUMENTS).map((name) => `${name}=${shown(inputs[name] ?? null)}`);
  return [...pairs, ...(names.length > MAX_ARGUMENTS ? ['…'] : [])].join(', ');
}

/** The arguments in a prompt, and the characters of each. The interrupt's data contains all of them. */
const MAX_ARGUMENTS = 12;
const MAX_ARGUMENT = 120;

/** A text is quoted only where its end would be unclear. */
function shown(value: Json): string {
  const text = typeof value === 'string' && !/[\s,()"]/.test(value) && value !== '' ? value : JSON.stringify(value);
  return text.length > MAX_ARGUMENT ? `${text.slice(0, MAX_ARGUMENT - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
}
