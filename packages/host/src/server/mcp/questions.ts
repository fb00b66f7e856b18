/** Questions of a run as forms of MCP, and the answers that come back. */
import {
  type AnswerInput,
  canDecline,
  isJsonObject,
  type Json,
  type JsonObject,
  withoutDecline,
} from '@cairn/protocol';
import type { Question } from '../../bridges/a2a/questions.ts';
import { QUESTION_META, type QuestionMeta, REASON_META } from '../peers/question-meta.ts';

/** The parameters of `elicitation/create`. */
export interface Form {
  readonly mode: 'form';
  readonly message: string;
  readonly requestedSchema: JsonObject;
  readonly _meta: Readonly<Record<typeof QUESTION_META, QuestionMeta>>;
}

/** What a client answers to a form. */
export type Reply =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline'; readonly reason?: string }
  | { readonly action: 'cancel' };

/** Null for what no form asks: a sign-in, or the result of a tool of the client. */
export function formOf(question: Question): Form | null {
  const { isSignIn, interruptKind, prompt } = question;
  if (isSignIn || interruptKind === 'external-event') return null;
  const properties = isApproval(question) ? approval : isFlat(question) ? flatProperties(question) : one(question);
  const required = requiredOf(question, properties);
  const requestedSchema = { type: 'object', properties, required };
  return { mode: 'form', message: prompt, requestedSchema, _meta: { [QUESTION_META]: aboutOf(question) } };
}

const aboutOf = (question: Question): QuestionMeta => ({
  inputId: question.id,
  ...(question.form.requireUser === true && { requireUser: true }),
  ...(isApproval(question) && { isApproval: true }),
});

const isApproval = ({ interruptKind }: Question): boolean => interruptKind === 'approval';

const approval: JsonObject = {
  approve: { type: 'boolean', title: 'Approve' },
  reason: { type: 'string', title: 'Reason', maxLength: 2_000 },
};

/** A form has no fields but these. */
const primitive: ReadonlySet<Json | undefined> = new Set(['string', 'number', 'integer', 'boolean']);

const schemaOf = ({ form }: Question): JsonObject => {
  const { schema } = form;
  return isJson(schema) ? withoutDecline(schema) : {};
};

const isJson = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object of simple fields is a form itself. */
function isFlat(question: Question): boolean {
  const { type, properties } = schemaOf(question);
  if (type !== 'object' || !isJsonObject(properties) || Object.keys(properties).length > 50) return false;
  return Object.values(properties).every((field) => isJsonObject(field) && isField(field));
}

/** Simple values, and choices of several texts. */
const isField = ({ type, items }: JsonObject): boolean =>
  primitive.has(type) || (type === 'array' && isJsonObject(items) && isChoice(items));

const isChoice = ({ enum: values, anyOf }: JsonObject): boolean =>
  (Array.isArray(values)
    ? values
    : Array.isArray(anyOf)
      ? anyOf.map((one) => isJsonObject(one) && one.const)
      : [null]
  ).every((value) => typeof value === 'string');

function flatProperties(question: Question): JsonObject {
  const { properties = {} } = schemaOf(question);
  if (!isJsonObject(properties)) return {};
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, fieldOf(field)]));
}

/** Fields of JSON Schema that a form knows. */
const known = [
  ...['type', 'title', 'description', 'minLength', 'maxLength', 'minimum', 'maximum', 'enum', 'default'],
  ...['enumNames', 'oneOf', 'items', 'minItems', 'maxItems'],
];

const fieldOf = (field: Json | undefined): JsonObject =>
  isJsonObject(field)
    ? Object.fromEntries(Object.entries(field).filter(([name]) => known.includes(name)))
    : { type: 'string' };

/** One field, for anything else. */
function one(question: Question): JsonObject {
  const schema = schemaOf(question);
  const options = optionsOf(question);
  if (options.length > 0) return { answer: { type: 'string', title: 'Answer', enum: [...options] } };
  if (primitive.has(schema.type)) return { answer: { title: 'Answer', ...fieldOf(schema) } };
  return { answer: { type: 'string', title: 'Answer', ...(schema.type !== undefined && { description: 'As JSON.' }) } };
}

function optionsOf({ form: { options } }: Question): readonly string[] {
  if (!Array.isArray(options)) return [];
  return options.flatMap((option: unknown) => {
    const value = isJson(option) ? (option.value ?? option.id) : option;
    return typeof value === 'string' ? [value] : [];
  });
}

function requiredOf(question: Question, properties: JsonObject): string[] {
  if (isApproval(question)) return ['approve'];
  if (!isFlat(question)) return ['answer'];
  const { required } = schemaOf(question);
  return Array.isArray(required)
    ? required.filter((name) => typeof name === 'string' && name in properties).map(String)
    : [];
}

/** What the host is told; null if the client leaves the question open. */
export function answerOf(question: Question, reply: Reply): AnswerInput | null {
  if (reply.action === 'cancel') return null;
  if (reply.action === 'decline') {
    // The server that asks, behind this host, is told the same.
    return canDecline(question.form.schema) ? { value: null } : rejection(reply.reason);
  }
  const { content } = reply;
  if (isApproval(question)) {
    return content.approve === true ? { value: { action: 'accept' } } : rejection(content.reason);
  }
  if (isFlat(question)) return { value: content };
  const { answer = null } = content;
  const { type } = schemaOf(question);
  return { value: typeof answer === 'string' && type !== undefined && !primitive.has(type) ? parsed(answer) : answer };
}

const MAX_REASON = 2_000;

const rejection = (reason: Json | undefined): AnswerInput => ({
  reject: true,
  ...(typeof reason === 'string' && { reason: reason.slice(0, MAX_REASON) }),
});

/** Text that is no JSON is an answer, too: the schema of the question refuses it. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Null for what is no reply to a form. */
export function replyOf(value: unknown): Reply | null {
  if (!isJson(value)) return null;
  if (value.action === 'cancel') return { action: 'cancel' };
  if (value.action === 'decline') {
    const { [REASON_META]: reason } = isJson(value._meta) ? value._meta : {};
    return { action: 'decline', ...(typeof reason === 'string' && { reason }) };
  }
  if (value.action !== 'accept') return null;
  return { action: 'accept', content: isJsonObject(value.content) ? value.content : {} };
}
