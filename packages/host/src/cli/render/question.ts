/** What a run asks of a person, and the commands that would answer it. */
import type { JsonObject } from '@cairn/protocol';
import { lookOf } from './status.ts';
import { oneLine, type Style, safe } from './style.ts';

/** An open question as a snapshot or the list of questions gives it. */
export interface Question {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly kind: string;
  readonly data: JsonObject;
}

interface Asked {
  readonly id: string;
  readonly question: string;
  readonly schema?: JsonObject;
}

export const questionsOf = (data: JsonObject): readonly Asked[] =>
  Array.isArray(data.questions) ? (data.questions as unknown as readonly Asked[]) : [];

/** A step that may have written something and whose result was never recorded. */
const isInterruptedStep = ({ kind, data }: Question): boolean =>
  kind === 'custom' && data.customKind === 'cairn.step.interrupted';

export const isConversation = ({ kind }: Pick<Question, 'kind'>): boolean => kind === 'conversation.exchange';

/** The words that answer a question; none where only a value does. `ask` is never an answer to an approval. */
export function actionsOf(question: Question): readonly string[] {
  const { kind, data } = question;
  if (kind === 'low-confidence') return ['approve', 'edit', 'reject'];
  if (isInterruptedStep(question)) return ['retry', 'use', 'fail'];
  if (kind !== 'approval') return [];
  const offered = Array.isArray(data.actions) ? data.actions.map(String) : ['accept', 'reject'];
  return offered.filter((action) => action !== 'ask');
}

export const actionWords = (question: Question, between: string): string => actionsOf(question).map(safe).join(between);

/** The question itself, then what it is about. */
export function questionLines(question: Question, style: Style): readonly string[] {
  const { kind, nodeId, data } = question;
  const heading = `${lookOf('suspended', style).mark} ${style.bold(safe(nodeId))} ${headline(question)}`;
  const about: string[] = [];
  if (typeof data.description === 'string') about.push(safe(data.description));
  if (data.artifactData !== undefined) about.push(style.dim(oneLine(data.artifactData, 400)));
  if (kind === 'low-confidence') about.push(...unsureLines(data, style));
  if (isInterruptedStep(question))
    about.push('Whether it happened is not known: it was asked for, and no result is recorded.');
  if (kind === 'clarification') {
    for (const { id, question: text, schema } of questionsOf(data)) {
      about.push(`${style.dim(safe(id))}  ${safe(text)}${style.dim(wantedBy(schema))}`);
    }
  }
  if (isConversation(question)) about.push(style.dim('Say something, or /close to end the conversation.'));
  return [heading, ...about.map((line) => `    ${line}`)];
}

/** What an answer has to be; nothing where any text will do. */
function wantedBy(schema: JsonObject | undefined): string {
  if (schema === undefined) return '';
  if (Array.isArray(schema.enum)) return `  (one of ${schema.enum.map((value) => oneLine(value, 40)).join(', ')})`;
  const isText = Object.keys(schema).length === 1 && schema.type === 'string';
  return isText || Object.keys(schema).length === 0 ? '' : `  (${oneLine(schema, 200)})`;
}

function headline(question: Question): string {
  const { kind, data } = question;
  const words = actionWords(question, ', ');
  if (kind === 'approval') return `asks for approval: ${oneLine(data.title ?? '')} (${words})`;
  if (kind === 'low-confidence') return `is unsure of its decision (${words})`;
  if (isInterruptedStep(question)) return `was interrupted in ${interruptedStep(data)} (${words})`;
  if (kind === 'clarification') return 'asks:';
  if (isConversation(question)) return `says: ${oneLine(data.prompt ?? '', 400)}`;
  if (kind === 'external-event')
    return `waits for the event ${oneLine(data.eventType ?? '')} ${oneLine(data.correlation ?? {})}`;
  return `waits for an answer of kind ${safe(kind)}: ${oneLine(data, 200)}`;
}

function unsureLines({ agentId, decision, observed, threshold }: JsonObject, style: Style): readonly string[] {
  const sure = `confidence ${oneLine(observed)}, and ${oneLine(threshold)} is needed`;
  return [oneLine(decision ?? null, 400), style.dim(`${oneLine(agentId)}  ${sure}`)];
}

/** The step, or the tool that was called. */
function interruptedStep({ payload }: JsonObject): string {
  const { step, tool, callId } = (payload ?? {}) as JsonObject;
  return `${oneLine(tool ?? step ?? 'a step')} (${oneLine(callId ?? '')})`;
}

/** The command that would answer; values to fill in are in capitals. */
export function answerCommand(runId: string, question: Question, isOnly = true): string {
  const { kind, nodeId, data } = question;
  const node = isOnly ? '' : ` --node ${quotedWord(nodeId)}`;
  const command = `cairn answer ${quotedWord(runId)}${node}`;
  const [action] = actionsOf(question);
  if (action !== undefined) return `${command} ${quotedWord(action)}`;
  if (isConversation(question)) return `${command} WORDS`;
  if (kind !== 'clarification') return `${command} --value JSON`;
  return `${command} ${questionsOf(data)
    .map(({ id }) => `${quotedWord(id)}=ANSWER`)
    .join(' ')}`;
}

/** For a shell. Control characters are shown here too: a word with any of them has to be typed by whoever knows it. */
const quotedWord = (word: string): string =>
  /^[\w.@:/-]+$/.test(word) ? word : `'${safe(word).replaceAll("'", `'\\''`)}'`;
