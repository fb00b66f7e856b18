/** Turns words such as `accept` or `city=Bern` into the answer to a question. */
import { isJsonObject, type Json } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { actionNamed, sameAs, truthOf } from './answer-words.ts';
import { parsePairs } from './inputs.ts';
import { type Asked, actionsOf, isConversation, onlyTextField, type Question, questionsOf } from './render/question.ts';
import { usageError } from './usage-error.ts';

export interface AnswerWords {
  readonly words: readonly string[];
  readonly feedback?: string | undefined;
  /** The JSON that replaces a decision or an unknown result. */
  readonly edited?: string | undefined;
  /** The complete answer as JSON; it overrides the rest. */
  readonly value?: string | undefined;
}

export function answerValue(question: Question, { words, feedback, edited, value }: AnswerWords): Json {
  if (value !== undefined) return withKnownAction(question, jsonAnswer(question, value));
  if (actionsOf(question).length > 0) {
    const action = actionOf(question, words);
    if (question.kind === 'approval') return approval(action, feedback);
    return verdict(question, action, edited, feedback);
  }
  if (question.kind === 'clarification') return clarification(question, words);
  if (isConversation(question)) return spoken(words.join(' ').trim());
  const [word = ''] = words;
  if (words.length === 1) return jsonAnswer(question, String(truthOf(word) ?? word));
  throw usageError(`An answer to ${question.kind} must be one JSON value.`, `Pass it with --value '{"…": …}'.`);
}

const CLOSE = '/close';

/** A turn of a conversation; the text after `/close` is the last turn. */
function spoken(text: string): Json {
  if (text === '') throw usageError('The turn is empty.', `Enter a text, or ${CLOSE} to end the conversation.`);
  if (text === CLOSE) return { operation: 'close' };
  if (!text.startsWith(`${CLOSE} `)) return { operation: 'exchange', turn: { content: text } };
  return { operation: 'close', turn: { content: text.slice(CLOSE.length).trim() } };
}

function jsonAnswer({ kind }: Question, text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    throw usageError(`${JSON.stringify(text)} is not JSON.`, `Quote it for the shell: --value '{"answer": 42}'.`);
  }
  const has = (name: string) => typeof value === 'object' && value !== null && name in value;
  if (isConversation({ kind })) return has('operation') ? value : { operation: 'exchange', turn: { content: value } };
  if (kind === 'external-event' && !has('eventPayload')) return { eventPayload: value };
  return value;
}

/** The same words for an action as on the command line. The host reports any other. */
function withKnownAction(question: Question, value: Json): Json {
  const offered = actionsOf(question);
  if (!isJsonObject(value) || typeof value.action !== 'string' || offered.includes(value.action)) return value;
  const action = sameAs(value.action, offered);
  return action === undefined ? value : { ...value, action };
}

/** The action that a word names; a unique beginning or another word for it is enough. */
function actionOf(question: Question, words: readonly string[]): string {
  const offered = actionsOf(question);
  const [word = '', ...rest] = words;
  const action = actionNamed(question, offered, word);
  if (action !== undefined && rest.length === 0) return action;
  const close = nearest(word, offered);
  const what = question.kind === 'approval' ? 'approval' : 'answer';
  throw usageError(
    words.length === 0 ? `The ${what} needs an action.` : `${JSON.stringify(words.join(' '))} is not a valid action.`,
    close === null ? `Use ${offered.join(' or ')}.` : `Did you mean ${close}? Valid actions: ${offered.join(', ')}.`,
  );
}

function approval(action: string, feedback: string | undefined): Json {
  if (action === 'edit-accept') {
    throw usageError(
      'edit-accept needs the edited artifact.',
      `Pass --value '{"action":"edit-accept","editedArtifactData":…}'.`,
    );
  }
  const said = feedback === undefined ? {} : { feedback };
  if (action !== 'refine') return { action, ...said };
  if (feedback === undefined)
    throw usageError('refine needs feedback: what to change.', 'Pass it with --feedback "…".');
  return { action, refineFeedback: { scope: 'whole', text: feedback } };
}

/** The field in which an action carries the replacement. */
const carried: Readonly<Record<string, string>> = { edit: 'decision', use: 'result' };

/** A verdict on an unsure decision of an agent, or on a step whose result is unknown. */
function verdict(question: Question, action: string, edited: string | undefined, feedback: string | undefined): Json {
  const said = feedback === undefined ? {} : { feedback };
  const name = Object.hasOwn(carried, action) ? carried[action] : undefined;
  if (name === undefined) return { action, ...said };
  if (edited !== undefined) return { action, [name]: jsonAnswer(question, edited), ...said };
  throw usageError(`${action} needs the ${name}.`, `Pass --value '{"action":"${action}","${name}":…}'.`);
}

function clarification({ data }: Question, words: readonly string[]): Json {
  const questions = questionsOf(data);
  const [first] = questions;
  const isBare = questions.length === 1 && words.length > 0 && !words[0]?.startsWith(`${first?.id}=`);
  const pairs = isBare && first !== undefined ? [`${first.id}=${words.join(' ')}`] : words;
  const answers = parsePairs(
    pairs.map((pair) => inField(questions, inEnum(questions, pair))),
    (id) => answerType(questions, id),
  );
  const missing = questions.filter(({ id }) => !Object.hasOwn(answers, id));
  if (missing.length === 0) return { answers };
  throw usageError(
    `The answer to ${missing.map(({ id }) => id).join(', ')} is missing.`,
    `Answer each question: ${questions.map(({ id }) => `${id}=…`).join(' ')}.`,
  );
}

/** A word that means the same as one of the allowed values becomes that value. */
function inEnum(questions: readonly Asked[], pair: string): string {
  const at = pair.indexOf('=');
  const id = pair.slice(0, Math.max(at, 0));
  const allowed = questions.find((question) => question.id === id)?.schema?.enum;
  const values = Array.isArray(allowed) ? allowed.filter((value) => typeof value === 'string') : [];
  const word = pair.slice(at + 1);
  if (values.length === 0 || values.includes(word)) return pair;
  return `${id}=${sameAs(word.toLowerCase(), values) ?? word}`;
}

/** Words for an object with one text become that object. JSON stays as it is. */
function inField(questions: readonly Asked[], pair: string): string {
  const at = pair.indexOf('=');
  const id = pair.slice(0, Math.max(at, 0));
  const words = pair.slice(at + 1);
  const asked = questions.find((question) => question.id === id);
  if (asked?.canDecline === true && words.trim() === 'null') return pair;
  const field = onlyTextField(asked?.schema);
  return field === null || words.trimStart().startsWith('{') ? pair : `${id}=${JSON.stringify({ [field]: words })}`;
}

/** The type that a question's schema requires; `string` by default. */
function answerType(questions: readonly Asked[], id: string): string {
  const type = questions.find((question) => question.id === id)?.schema?.type;
  if (type === 'integer') return 'number';
  return typeof type === 'string' && type !== 'null' ? type : 'string';
}
