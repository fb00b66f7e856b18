/** What a task of a peer asks, as a question for people here, and the message that carries the answer back. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { schemaRefusal } from '../../engine/values/schemas.ts';
import type { Said } from '../peers/passed-question.ts';
import type { OutboundMessage } from './peer-task.ts';
import type { RemoteTask } from './remote-task.ts';
import { textOf } from './remote-task.ts';

/** As it is recorded. */
export type RemoteQuestion = {
  readonly kind: 'input' | 'auth';
  /** Tells this status from the next one of the task. */
  readonly mark: string;
  readonly prompt: string;
  /** Which of several questions it is. Only some peers have ids for them. */
  readonly inputId: string | null;
  /** It decides an approval. */
  readonly isApproval: boolean;
  readonly requireUser: boolean;
  readonly schema: JsonObject | null;
  /** The run behind the task, as the peer says. */
  readonly run: JsonObject | null;
};

/** Characters of a question, and of its id. */
const MAX_PROMPT = 3_000;
const MAX_ID = 256;

/** The question of a task that waits. Cairn hosts say in a data part what an answer looks like. */
export function questionIn(task: RemoteTask): RemoteQuestion {
  const { state, parts, mark } = task.status;
  const form = parts.flatMap((part) => ('data' in part && isJsonObject(part.data) ? [part.data] : []))[0] ?? {};
  const { inputType, schema, requireUser, authUrl, infoUrl } = form;
  const inputId = typeof form.inputId === 'string' && form.inputId.length <= MAX_ID ? form.inputId : null;
  const [first] = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  const said = (inputId === null ? undefined : first) ?? textOf(parts);
  const links = [authUrl, infoUrl].filter((link) => typeof link === 'string');
  const isAuth = state === 'auth-required';
  const words = [said, ...(isAuth ? links : [])].filter((text) => text !== '').join('\n');
  const hasSchema = isJsonObject(schema) && schemaRefusal(schema) === null;
  return {
    kind: isAuth ? 'auth' : 'input',
    mark,
    prompt: (words === '' ? 'It says nothing about what it needs.' : words).slice(0, MAX_PROMPT),
    inputId,
    isApproval: inputType === 'confirmation' && !(hasSchema && schema.type === 'boolean'),
    requireUser: requireUser === true,
    schema: hasSchema ? schema : null,
    run: task.remote === undefined ? null : { ...task.remote },
  };
}

/** A person must see who asks: these are not the words of this host. */
export function promptFor(peer: string, { kind, prompt }: RemoteQuestion): string {
  if (kind === 'input') return `The A2A peer ${peer} asks: ${prompt}`;
  return `The A2A peer ${peer} waits for a sign-in, which takes place there and not here: ${prompt}`;
}

/** What a person chooses from; undefined for a free answer. */
export const choicesFor = ({ kind, isApproval }: RemoteQuestion) =>
  kind === 'auth' ? signInChoices : isApproval ? approvalChoices : undefined;

const SIGNED_IN = 'signed-in';
export const GIVE_UP = 'give-up';

const signInChoices = [
  { value: SIGNED_IN, label: 'I have signed in there' },
  { value: GIVE_UP, label: 'Give up' },
];

const approvalChoices = [
  { value: 'accept', label: 'Approve' },
  { value: 'reject', label: 'Reject' },
];

/**
 * The content of the message that answers. Text never decides an approval. The protocol has no word for a refusal, but
 * Cairn hosts have, which say an id with their questions: for any other peer this throws, and the task there is cancelled.
 */
export function contentOf({ inputId, isApproval }: RemoteQuestion, said: Said): Pick<OutboundMessage, 'text' | 'data'> {
  const named = inputId === null ? {} : { inputId };
  if ('refused' in said) {
    if (inputId === null) throw said.refused;
    return { text: null, data: { ...named, reject: true, ...(said.reason !== undefined && { reason: said.reason }) } };
  }
  const { answer } = said;
  if (isApproval) return { text: null, data: { ...named, action: answer } };
  if (inputId !== null) return { text: null, data: { ...named, value: answer } };
  return typeof answer === 'string' ? { text: answer, data: undefined } : { text: null, data: asObject(answer) };
}

const asObject = (answer: Json): JsonObject => (isJsonObject(answer) ? answer : { value: answer });
