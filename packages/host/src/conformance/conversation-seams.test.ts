import type { Json, JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { keys, keyWith, type Served, served } from '../server/served.kit.ts';

const base = '/v1/host/sample/conversation/multi-party';
const council = [{ agentId: 'host:cfo', name: 'CFO' }, { agentId: 'host:cmo' }, { agentId: 'host:cto' }];
const turn = (more: JsonObject): JsonObject => ({
  messageId: 'q1:1:agent',
  from: 'host:cfo',
  content: 'Wait a quarter.',
  ts: 1_718_900_000_000,
  role: 'agent',
  turnIndex: 1,
  ...more,
});

const open = (host: Served, body: JsonObject = {}, key: string = keys.alice) =>
  host.ask('POST', `${base}/open`, { key, body: { conversationId: 'q1', participants: council as Json, ...body } });
const say = (host: Served, said: JsonObject, key: string = keys.alice) =>
  host.ask('POST', `${base}/exchange`, { key, body: { conversationId: 'q1', turn: said } });
const told = ({ status, body }: Awaited<ReturnType<typeof open>>) => [status, body.error ?? body.accepted];

test('who is on the roster is heard, and nobody else', async () => {
  const host = await served({ conformance: true });
  expect((await open(host)).body).toEqual({ conversationId: 'q1', accepted: true });
  expect(told(await say(host, turn({ speakerId: 'host:cfo' })))).toEqual([200, true]);
  expect(told(await say(host, { content: 'Q3 or Q4?', role: 'user', turnIndex: 0 }))).toEqual([200, true]);
  expect(told(await say(host, turn({ messageId: 'x' })))).toEqual([400, 'validation_error']);
  const stranger = turn({ messageId: 'y', speakerId: 'host:advisor-of-nobody' });
  expect(told(await say(host, stranger))).toEqual([400, 'validation_error']);
});

test('a roster beyond either limit is refused', async () => {
  const host = await served({ conformance: true });
  expect(told(await open(host, { maxParticipants: 2 }))).toEqual([400, 'validation_error']);
  const many = Array.from({ length: 33 }, (_, n) => ({ agentId: `host:a${n}` }));
  expect(told(await open(host, { participants: many }))).toEqual([400, 'validation_error']);
  expect(told(await say(host, turn({ speakerId: 'host:cfo' })))).toEqual([404, 'not_found']);
});

test('whoever uses the seam has to be somebody', async () => {
  const host = await served({ conformance: true });
  await open(host);
  expect(told(await say(host, turn({ speakerId: 'host:cfo' }), keys.stranger))).toEqual([403, 'forbidden']);
  expect(told(await say(host, turn({}), keyWith('approvals:respond')))).toEqual([403, 'forbidden']);
});

test('without conformance there is no such seam', async () => {
  const host = await served();
  expect((await open(host)).status).toBe(404);
});
