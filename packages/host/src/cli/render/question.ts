/** Formats the question of a run, and the command that answers it. */
import { type Fields, fieldsOf, isFields } from './fields.ts';
import { lookOf } from './status.ts';
import { oneLine, type Style, safe } from './style.ts';

/** An open question from a snapshot or a list of interrupts. */
export interface Question {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly kind: string;
  readonly data: Fields;
}

interface Asked {
  readonly id: string;
  readonly question: string;
  readonly schema?: Fields;
}

export const questionsOf = ({ questions }: Fields): readonly Asked[] =>
  Array.isArray(questions) ? questions.map(fieldsOf).map(askedOf) : [];

const askedOf = ({ id, question, schema }: Fields): Asked => ({
  id: textOf(id),
  question: textOf(question),
  ...(isFields(schema) ? { schema } : {}),
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A step that may have taken effect, but whose result was not recorded. */
const isInterruptedStep = ({ kind, data }: Question): boolean =>
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
  const { kind, nodeId, data } = question;
  const heading = `${lookOf('suspended', style).mark} ${style.bold(safe(nodeId))} ${headline(question)}`;
  const about: string[] = [];
  if (typeof data.description === 'string') about.push(safe(data.description));
  if (data.artifactData !== undefined) about.push(style.dim(oneLine(data.artifactData, 400)));
  if (kind === 'low-confidence') about.push(...unsureLines(data, style));
  if (isInterruptedStep(question))
    about.push('It is unknown whether the step took effect: it was requested, but no result was recorded.');
  if (kind === 'clarification') {
    for (const { id, question: text, schema } of questionsOf(data)) {
      about.push(`${style.dim(safe(id))}  ${safe(text)}${style.dim(wantedBy(schema))}`);
    }
  }
  if (isConversation(question)) about.push(style.dim('Enter a text, or /close to end the conversation.'));
  return [heading, ...about.map((line) => `    ${line}`)];
}

/** A description of a valid answer; empty if any text is valid. */
function wantedBy(schema: Fields | undefined): string {
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

function unsureLines({ agentId, decision, observed, threshold }: Fields, style: Style): readonly string[] {
  const sure = `confidence ${oneLine(observed)}, below the threshold of ${oneLine(threshold)}`;
  return [oneLine(decision ?? null, 400), style.dim(`${oneLine(agentId)}  ${sure}`)];
}

/** The step or the tool. */
function interruptedStep({ payload }: Fields): string {
  const { step, tool, callId } = fieldsOf(payload);
  return `${oneLine(tool ?? step ?? 'a step')} (${oneLine(callId ?? '')})`;
}

/** The command that answers the question; placeholders are in capitals. */
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

/** Quotes a word for a shell. Control characters are escaped, so such a word cannot be copied. */
const quotedWord = (word: string): string =>
  /^[\w.@:/-]+$/.test(word) ? word : `'${safe(word).replaceAll("'", `'\\''`)}'`;
