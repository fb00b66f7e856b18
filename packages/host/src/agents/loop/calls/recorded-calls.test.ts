import { createHash } from 'node:crypto';
import type { FoldEvent, JsonObject } from '@cairn/protocol';
import { typedEvent } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { MODEL_PERFORMER, TOOL_PERFORMER } from '../../../engine/performer-ids.ts';
import type { Sha256 } from '../../../engine/ports.ts';
import { turnOf } from '../agent-script.kit.ts';
import { toolCalledRow } from '../rows.ts';
import { recordedCalls } from './recorded-calls.ts';

const sha256: Sha256 = (text, encoding) => createHash('sha256').update(text).digest(encoding);

const eventOf = (type: string, payload: JsonObject): FoldEvent =>
  typedEvent({ seq: 1, at: 0, type, nodeId: 'a', cause: undefined, payload });

const called = {
  agentId: 'host:a',
  toolId: 'app:find',
  callId: 'a#0.0/t0.0',
  principal: null,
  safety: 'read' as const,
};

test('an equal call of the branch has the key of the recorded request, whatever the order of its arguments', () => {
  const { payload } = toolCalledRow('a', { ...called, input: { x: 1, y: 2 } }, sha256);
  const request = recordedCalls.request(eventOf('agent.toolCalled', { ...payload }));
  const asked = (input: JsonObject) =>
    recordedCalls.keyOf({ step: TOOL_PERFORMER }, { toolId: 'app:find', input }, sha256);
  expect(request).toEqual({ callId: 'a#0.0/t0.0', key: asked({ y: 2, x: 1 }) });
  expect(asked({ y: 2, x: 2 })).not.toBe(request?.key);
  expect(recordedCalls.keyOf({ step: MODEL_PERFORMER }, {}, sha256)).toBeNull();
});

test('only a tool that succeeded has a result to take over', () => {
  const result = (payload: JsonObject) =>
    recordedCalls.returned(eventOf('agent.toolReturned', { callId: 'c', ...payload }));
  expect(result({ status: 'ok', outcome: null })).toEqual({ callId: 'c', result: { given: null } });
  expect(result({ status: 'error', error: { code: 'tool_failed', message: 'No.' } })).toEqual({
    callId: 'c',
    result: null,
  });
});

test('a turn is found by its cache key and given without its pieces', () => {
  const turn = turnOf({ text: 'Hello.', cacheKey: 'k', chunks: 3, tail: 'o.' });
  const unstreamed = { ...turn, chunks: 0, tail: 'Hello.' };
  const event = eventOf('cairn.model.returned', { callId: 'c', attempt: 1, turn });
  expect(recordedCalls.returned(event)).toEqual({
    callId: 'c',
    key: 'model k',
    result: { outcome: { turn: unstreamed } },
  });
  expect(recordedCalls.withoutPieces(event)).toEqual({ callId: 'c', attempt: 1, turn: unstreamed });
  const failed = eventOf('cairn.model.returned', { callId: 'c', attempt: 1, error: { class: 'timeout', message: '' } });
  expect(recordedCalls.returned(failed)).toEqual({ callId: 'c', result: null });
});

test('a refusal is told by each of the rows that can be the first to differ', () => {
  const isRefusal = (type: string, payload: JsonObject) => recordedCalls.isRefusal(eventOf(type, payload));
  expect(isRefusal('agent.invocation.completed', { outcome: 'refused' })).toBe(true);
  expect(isRefusal('agent.invocation.completed', { outcome: 'completed' })).toBe(false);
  expect(isRefusal('output.chunk', { meta: { finishReason: 'content_filter' } })).toBe(true);
  expect(isRefusal('output.chunk', { meta: { finishReason: 'stop' } })).toBe(false);
  expect(isRefusal('node.failed', { error: { code: 'model_refused' } })).toBe(true);
  expect(isRefusal('node.failed', { error: { code: 'tool_failed' } })).toBe(false);
});

test('a rule names a tool by its id, and a model with or without its provider', () => {
  expect(recordedCalls.namesOf({ step: TOOL_PERFORMER }, { toolId: 'app:find', input: {} })).toEqual([
    'tool:*',
    'tool:app:find',
  ]);
  const selection = { provider: 'openai', model: 'gpt-5' };
  expect(recordedCalls.namesOf({ step: MODEL_PERFORMER }, { selection })).toEqual([
    'model:*',
    'model:gpt-5',
    'model:openai/gpt-5',
  ]);
});
