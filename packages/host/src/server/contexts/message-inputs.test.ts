import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { storedAgent } from '../../agents/packs/pack-agents.ts';
import { MessageInputs } from './message-inputs.ts';

const text = { type: 'string' };

const inputsFor = (taskSchema: JsonObject | undefined, message: string) => {
  const manifest = { agentId: 'a:b', persona: 'B', modelClass: 'general' as const };
  const { hash, body } = storedAgent({
    packName: 'host',
    packVersion: '1',
    manifest: { ...manifest, systemPrompt: 'x' },
    systemPrompt: 'x',
    ...(taskSchema !== undefined && { taskSchema }),
  });
  const registry = { hashOf: async (_: string, agentId: string) => (agentId === 'a:b' ? hash : null) };
  return new MessageInputs({ registry, definitions: { get: async () => body } }).of('t', 'a:b', message);
};

test.for<readonly [JsonObject | undefined, string, JsonObject]>([
  [undefined, 'Tides.', { message: 'Tides.' }],
  [undefined, '{"topic":"Tides."}', { message: '{"topic":"Tides."}' }],
  [{ required: ['topic'], properties: { topic: text } }, 'Tides.', { topic: 'Tides.', message: 'Tides.' }],
  [{ required: ['message'], properties: { message: text } }, 'Tides.', { message: 'Tides.' }],
  // A number, or more than one text, cannot be taken out of a plain message.
  [{ required: ['round'], properties: { round: { type: 'integer' } } }, 'Three', { message: 'Three' }],
  [{ required: ['a', 'b'], properties: { a: text, b: text } }, 'Both', { message: 'Both' }],
  [{ required: ['round'], properties: {} }, '{"round":3}', { round: 3, message: '{"round":3}' }],
  [{ required: ['round'], properties: {} }, '{"round":', { message: '{"round":' }],
  [{ required: ['toString'], properties: {} }, 'Tides.', { message: 'Tides.' }],
  [{ required: 'topic', properties: [] }, 'Tides.', { message: 'Tides.' }],
])('the task %j gets %s as %j', async ([schema, message, expected]) => {
  expect(await inputsFor(schema, message)).toEqual(expected);
});
