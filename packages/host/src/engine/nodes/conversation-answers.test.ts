import type { Json, JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, heldStep } from '../../../test/kit/engine-bench.ts';

/** A conversation beside a step that keeps its node at the run. */
const definition = { ...chain('local.step.work', 'core.conversationGate'), edges: [] };
const says = (content: string): Json => ({ operation: 'exchange', turn: { content } });

const payloads = (rows: readonly { type: string; payload: string }[], type: string) =>
  rows.filter((row) => row.type === type).map((row) => JSON.parse(row.payload) as JsonObject);

test('turns that reach several nodes at once are all taken, one after the other', async () => {
  const { node, begin, rows, seen } = bench();
  const { step, called } = heldStep('work');
  const holder = node('a', [step]);
  const other = node('b', [step]);
  const runId = await begin(holder, definition);
  await called(1);
  await seen(runId, 'conversation.opened');
  const sent = ['1', '2', '3', '4', '5', '6'];
  const said = sent.map((content, n) =>
    (n % 2 === 0 ? holder : other).answer({ tenant: 't', runId, nodeId: 'n2', value: says(content) }),
  );
  expect((await Promise.all(said)).map(({ status }) => status)).toEqual(sent.map(() => 'waiting-approval'));
  const exchanged = payloads(await rows(runId), 'conversation.exchanged');
  expect(exchanged.map(({ turnIndex }) => turnIndex)).toEqual([1, 2, 3, 4, 5, 6]);
  const contents = exchanged.map(({ turn }) => (turn as JsonObject).content);
  expect([...contents].sort()).toEqual(sent);
  const written = payloads(await rows(runId), 'channel.written').map(({ value }) => (value as JsonObject).content);
  expect(written.slice(1)).toEqual(contents);
  await Promise.all([holder.close(), other.close()]);
});

test('a conversation that another node than the holder closes is closed once, and its node goes on', async () => {
  const { node, begin, rows, seen } = bench();
  const { step, called } = heldStep('work');
  const holder = node('a', [step]);
  const other = node('b', [step]);
  const runId = await begin(holder, definition);
  const call = await called(1);
  await seen(runId, 'conversation.opened');
  const close: Json = { operation: 'close', turn: { content: 'bye' }, outcome: 1 };
  const both = await Promise.allSettled(
    [other, holder].map((one) => one.answer({ tenant: 't', runId, nodeId: 'n2', value: close })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await seen(runId, 'node.resumed');
  call.resolve({});
  await seen(runId, 'run.completed');
  expect(payloads(await rows(runId), 'conversation.closed')).toMatchObject([{ turnIndex: 1, outcome: 1 }]);
  await Promise.all([holder.close(), other.close()]);
});
