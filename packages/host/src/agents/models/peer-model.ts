/**
 * The turns of an agent that delegates to an A2A peer: the first turn calls the peer's tool, the second returns its answer.
 * No model is involved, so the text of the peer cannot change what the agent does.
 */
import { type ErrorCode, errorKinds, isJsonObject, type Json, TerminalError } from '@cairn/protocol';
import { A2A_SCOPE } from '../tools/tool-registry.ts';
import type { Model, ModelCall, ModelPart } from './model-port.ts';
import type { ModelMessage, ModelRequest } from './turn.ts';
import { untrustedText } from './untrusted.ts';

/** The provider of these turns in the log. */
export const PEER_PROVIDER = 'a2a';

export const peerModel = (peer: NonNullable<ModelRequest['peer']>): Model => ({
  provider: PEER_PROVIDER,
  model: peer.name,
  capabilities: new Set(['function-calling', 'structured-output']),
  contextTokens: null,
  prices: { input: 0, output: 0 },
  isScripted: true,
  async *stream(call) {
    yield [partOf(peer, call), finished(call)];
  },
});

type Peer = NonNullable<ModelRequest['peer']>;

function partOf(peer: Peer, { messages, task, tools }: ModelCall): ModelPart {
  const toolId = `${A2A_SCOPE}${peer.name}`;
  const answer = messages.findLast((message) => message.role === 'tool');
  if (answer !== undefined) return { type: 'text-delta', text: saidIn(toolId, answer) };
  const { conversation, skill } = peer;
  const name = tools.find((tool) => tool.toolId === toolId)?.name ?? toolId;
  const input = {
    message: task === '' ? (skill ?? '') : task,
    ...(skill === undefined ? {} : { skill }),
    ...(conversation ? { conversation } : {}),
  };
  return { type: 'tool-call', call: { id: 'peer', name, input } };
}

const finished = ({ messages }: ModelCall): ModelPart => ({
  type: 'finish',
  finish: messages.some(({ role }) => role === 'tool') ? 'stop' : 'tool_calls',
  usage: { inputTokens: 0, outputTokens: 0 },
});

/** The answer as text. The error of a call is the error of the agent. */
function saidIn(toolId: string, { output, isError }: Extract<ModelMessage, { role: 'tool' }>): string {
  const told = typeof output === 'string' ? (untrustedText(toolId, output) ?? output) : output;
  if (isError) throw errorOf(told);
  if (typeof told !== 'string') return JSON.stringify(told);
  const value = parsed(told);
  if (!isJsonObject(value) || !Array.isArray(value.parts) || typeof value.text !== 'string') return told;
  return value.text === '' ? JSON.stringify(dataOf(value.parts)) : value.text;
}

/** Data alone is the answer as JSON. */
function dataOf(parts: readonly Json[]): Json {
  const data = parts.flatMap((part) => (isJsonObject(part) && part.data !== undefined ? [part.data] : []));
  return data.length === 1 && parts.length === 1 ? (data[0] ?? null) : [...parts];
}

function errorOf(told: Json): TerminalError {
  const value = typeof told === 'string' ? parsed(told) : told;
  const error = isJsonObject(value) && isJsonObject(value.error) ? value.error : {};
  const code: ErrorCode = isCode(error.code) ? error.code : 'external_call_failed';
  return new TerminalError(code, { message: typeof error.message === 'string' ? error.message : 'The peer failed.' });
}

const isCode = (code: Json | undefined): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(errorKinds, code);

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
