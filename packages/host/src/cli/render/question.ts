/** Formats the question of a run, and the command that answers it. */
import { canDecline, promptOf, withoutDecline } from '@cairn/protocol';
import { type Decided, deciderLines } from './deciders.ts';
import { type Fields, fieldsOf, isFields, isJson } from './fields.ts';
import { lookOf } from './status.ts';
import { oneLine, type Style, safe } from './style.ts';
import { valueLines } from './value-lines.ts';

/** An open question from a snapshot or a list of interrupts. */
export interface Question extends Decided {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly data: Fields;
}

/** One question of a clarification. */
export interface Asked {
  readonly id: string;
  readonly question: string;
  readonly schema?: Fields;
  /** An answer of null declines. */
  readonly canDecline?: boolean;
}

export const questionsOf = ({ questions }: Fields): readonly Asked[] =>
  Array.isArray(questions) ? questions.map(fieldsOf).map(askedOf) : [];

const askedOf = ({ id, question, schema }: Fields): Asked => ({
  id: textOf(id),
  question: textOf(question),
  ...(isFields(schema) ? { schema: withoutDecline(schema) } : {}),
  ...(canDecline(schema) ? { canDecline: true } : {}),
});

/** The only field of an answer that is an object with one text, as a form of another system has it. */
export function onlyTextField(schema: Fields | undefined): string | null {
  if (schema?.type !== 'object') return null;
  const [field, ...others] = Object.entries(fieldsOf(schema.properties));
  if (field === undefined || others.length > 0) return null;
  return fieldsOf(field[1]).type === 'string' ? field[0] : null;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A step that may have taken effect, but whose result was not recorded. */
export const isInterruptedStep = ({ kind, data }: Question): boolean =>
  kind === 'custom' && data.customKind === 'cairn.step.interrupted';

export const isConversation = ({ kind }: Pick<Question, 'kind'>): boolean => kind === 'conversation.exchange';

/** The actions that answer a question; none if it needs a value. `ask` is never an answer to an approval. */
export function actionsOf(question: Question): readonly string[] {
  const { kind, data } = question;
  if (kind === 'low-confidence') return ['approve', 'edit', 'reject'];
  if (isInterruptedStep(question)) return ['retry', 'use', 'fail'];
  if (kind !== 'approval') return [];
  const offered = Array.isArray(data.actions) ? data.actions.map(String) : ['accept', 'reject'];
  return offered.filter((action) => action !== 'ask');
}

export const actionWords = (question: Question, between: string): string => actionsOf(question).map(safe).join(between);

/** The question, followed by its details. */
export function questionLines(question: Question, style: Style): readonly string[] {
  const { nodeId } = question;
  const heading = `${lookOf('suspended', style).mark} ${style.bold(safe(nodeId))} ${headline(question)}`;
  const about = [...aboutLines(question, style), ...deciderLines(question, style)];
  return [heading, ...about.map((line) => `    ${line}`)];
}

function aboutLines(question: Question, style: Style): readonly string[] {
  const { kind, data } = question;
  if (kind === 'low-confidence') return unsureLines(data, style);
  if (isInterruptedStep(question)) return interruptedLines(data, style);
  if (isConversation(question)) return [style.dim('Enter a text, or /close to end the conversation.')];
  if (kind === 'clarification') {
    return questionsOf(data).map(({ id, question: text, schema, canDecline: mayDecline }) => {
      const wanted = `${wantedBy(schema)}${mayDecline === true ? '  (null declines)' : ''}`;
      return `${style.dim(safe(id))}  ${safe(text)}${style.dim(wanted)}`;
    });
  }
  const lines = typeof data.description === 'string' ? data.description.split(/\r?\n/).map(safe) : [];
  return data.artifactData === undefined ? lines : [...lines, ...valueLines(data.artifactData, style)];
}

/** A description of a valid answer; empty if any text is valid. */
function wantedBy(schema: Fields | undefined): string {
  if (schema === undefined) return '';
  if (Array.isArray(schema.enum)) return `  (one of ${schema.enum.map((value) => oneLine(value, 40)).join(', ')})`;
  const isText = Object.keys(schema).length === 1 && schema.type === 'string';
  return isText || onlyTextField(schema) !== null || Object.keys(schema).length === 0
    ? ''
    : `  (${oneLine(schema, 200)})`;
}

function headline(question: Question): string {
  const { kind, data } = question;
  const words = actionWords(question, ', ');
  if (kind === 'approval') return `asks for approval: ${oneLine(data.title ?? '')} (${words})`;
  if (kind === 'low-confidence') return `is unsure of its decision (${words})`;
  if (isInterruptedStep(question)) return `${oneLine(promptOf(interrupted(data)))} ${actionWords(question, ' / ')}`;
  if (kind === 'clarification') return 'asks:';
  if (isConversation(question)) return `says: ${oneLine(data.prompt ?? '', 400)}`;
  if (kind === 'external-event')
    return `waits for the event ${oneLine(data.eventType ?? '')} ${oneLine(data.correlation ?? {})}`;
  return `waits for an answer of kind ${safe(kind)}: ${oneLine(data, 200)}`;
}

function unsureLines({ agentId, decision, observed, threshold }: Fields, style: Style): readonly string[] {
  const sure = `confidence ${oneLine(observed)}, below the threshold of ${oneLine(threshold)}`;
  return [oneLine(decision ?? null, 400), style.dim(`${oneLine(agentId)}  ${sure}`)];
}

/** The call that was interrupted, without trusting the shape of the data. */
const interrupted = ({ payload }: Fields): Parameters<typeof promptOf>[0] => ({
  kind: 'custom',
  data: { customKind: 'cairn.step.interrupted', payload: isJson(payload) ? payload : {} },
});

/** Says what each verdict does. The prompt cuts long arguments, so they follow in full. */
function interruptedLines({ payload }: Fields, style: Style): readonly string[] {
  const { inputs } = fieldsOf(payload);
  const isLong = (JSON.stringify(inputs) ?? '').length > 120;
  return [
    ...(isLong ? valueLines(inputs, style) : []),
    style.dim('The host stopped before it recorded a result, so it does not know.'),
    `${style.dim('retry')}  it was not: do it now`,
    `${style.dim('use')}    it was: enter its result`,
    `${style.dim('fail')}   give it up`,
  ];
}

/** An answer that cannot be written as a word. */
const needsJson = (schema: Fields | undefined): boolean =>
  (schema?.type === 'object' && onlyTextField(schema) === null) || schema?.type === 'array';

/** The command that answers the question; placeholders are in capitals. */
export function answerCommand({ cairn }: Style, runId: string, question: Question, isOnly = true): string {
  const { kind, nodeId, data } = question;
  const node = isOnly ? '' : ` --node ${quotedWord(nodeId)}`;
  const command = `${cairn} answer ${quotedWord(runId)}${node}`;
  const [action] = actionsOf(question);
  if (action !== undefined) return `${command} ${quotedWord(action)}`;
  if (isConversation(question)) return `${command} WORDS`;
  if (kind !== 'clarification') return `${command} --value JSON`;
  return `${command} ${questionsOf(data)
    .map(({ id, schema }) => `${quotedWord(id)}=${needsJson(schema) ? 'JSON' : 'ANSWER'}`)
    .join(' ')}`;
}

/** Quotes a word for a shell. Control characters are escaped, so such a word cannot be copied. */
const quotedWord = (word: string): string =>
  /^[\w.@:/-]+$/.test(word) ? word : `'${safe(word).replaceAll("'", `'\\''`)}'`;
