/**
 * Builds the questions of a tool for the record. They are validated when asked, so that every question can be answered.
 */
import { type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import { compileSchema } from '../../engine/values/schemas.ts';
import type { AskQuestion, SignInRequest, ToolQuestion } from './tool.ts';

/** Questions are shown on screens and sent to phones. */
const MAX_PROMPT = 4000;
const MAX_WORD = 512;
/** The longest timeout a timer supports. */
const MAX_WAIT_MS = 2_147_483_647;

export function asked({ prompt, name = prompt, schema, timeoutMs }: AskQuestion): ToolQuestion {
  checkWords(prompt, name);
  checkWait(timeoutMs);
  if (schema !== undefined) checkSchema(schema);
  return {
    kind: 'ask',
    name,
    prompt,
    ...(schema === undefined ? {} : { schema }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

export function signInAsked(request: SignInRequest): ToolQuestion {
  const { prompt, name = prompt, authType, provider, scopes, authUrl, timeoutMs } = request;
  checkWords(prompt, name);
  checkWait(timeoutMs);
  for (const word of [provider, authUrl, ...(scopes ?? [])]) {
    if (word !== undefined && (typeof word !== 'string' || word.length > MAX_WORD * 4))
      throw wrong('has a word that is too long');
  }
  if (authUrl !== undefined && !/^https?:$/.test(URL.canParse(authUrl) ? new URL(authUrl).protocol : '')) {
    throw wrong(`has the authUrl ${quoted(authUrl, 120)}, which is no http address`);
  }
  return {
    kind: 'signIn',
    name,
    prompt,
    authType,
    ...(provider === undefined ? {} : { provider }),
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
    ...(authUrl === undefined ? {} : { authUrl }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

function checkWords(prompt: unknown, name: unknown): void {
  if (typeof prompt !== 'string' || prompt.trim() === '') throw wrong('has no prompt');
  if (prompt.length > MAX_PROMPT) throw wrong(`has ${prompt.length} characters; at most ${MAX_PROMPT} are shown`);
  if (typeof name !== 'string' || name === '' || name.length > MAX_PROMPT) throw wrong('has a name that cannot be one');
}

function checkWait(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined) return;
  if (Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_WAIT_MS) return;
  throw wrong(`has the timeoutMs ${timeoutMs}, which is no whole number of milliseconds`);
}

function checkSchema(schema: JsonObject): void {
  try {
    compileSchema(schema);
  } catch (error) {
    throw wrong(`has a schema that is none: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const wrong = (why: string): TerminalError =>
  new TerminalError('tool_failed', { message: `The question of the tool ${why}.` });
