import {
  foldRun,
  type Json,
  type JsonObject,
  newRunView,
  type RunEventDoc,
  type RunId,
  typedEvent,
} from '@cairn/protocol';
import { expect, test } from 'vitest';
import { createRedactor } from '../../redaction/redactor.ts';
import { chain } from '../sample-workflows.kit.ts';
import { keys, type Served, type ServedOptions, served } from '../served.kit.ts';

const gate = (config: JsonObject = {}) =>
  chain('talk', { typeId: 'core.conversationGate', config: { prompt: 'Well?', ...config } });
const says = (content: Json, more: JsonObject = {}): JsonObject => ({
  resumeValue: { operation: 'exchange', turn: { content, ...more } },
});
const close: JsonObject = { resumeValue: { operation: 'close' } };

async function opened(options: ServedOptions = {}, config: JsonObject = {}) {
  const host = await served(options);
  await host.engine.register('t', gate(config));
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'talk', inputs: {}, options: {} });
  const path = `/v1/runs/${runId}`;
  return {
    host,
    runId,
    say: (body: JsonObject, headers: Readonly<Record<string, string>> = {}) =>
      host.ask('POST', `${path}/interrupts/n0`, { key: keys.alice, body, headers }),
    events: async (type: string) =>
      eventsIn(await host.ask('GET', `${path}/events`, { key: keys.alice })).filter((event) => event.type === type),
  };
}

const told = ({ status, body }: Awaited<ReturnType<Served['ask']>>) => [status, body.error ?? body.status];

test('a turn with an Idempotency-Key is taken once, and each request has its answer again', async () => {
  const { say, events } = await opened();
  const first = { 'idempotency-key': 'first' };
  expect(told(await say(says('one'), first))).toEqual([200, 'waiting-approval']);
  expect(told(await say(says('one'), first))).toEqual([200, 'waiting-approval']);
  expect(await events('conversation.exchanged')).toHaveLength(1);
  expect(told(await say(says('two')))).toEqual([200, 'waiting-approval']);
  const again = { 'idempotency-key': 'again' };
  for (let n = 0; n < 2; n++) {
    expect(told(await say(says('two', { turnIndex: 2 }), again))).toEqual([200, 'waiting-approval']);
  }
  expect(told(await say(close, first))).toEqual([409, 'idempotency_key_mismatch']);
  expect(await events('conversation.exchanged')).toHaveLength(2);
});

test('who has tokens takes a turn with each, closes with another, and has no use for them afterwards', async () => {
  const { host, runId, events } = await opened();
  const mint = async () => {
    const minted = await host.ask('POST', `/v1/host/cairn/runs/${runId}/interrupts/n0/token`, { key: keys.alice });
    return `/v1/interrupts/${String(minted.body.token)}`;
  };
  const send = (path: string, body: JsonObject) => host.ask('POST', path, { key: null, body });
  for (const content of ['one', 'two']) expect((await send(await mint(), says(content))).status).toBe(200);
  const [path, late] = [await mint(), await mint()];
  expect((await host.ask('GET', path, { key: null })).body.data).toMatchObject({ turnIndex: 3 });
  expect((await send(path, close)).status).toBe(200);
  expect((await send(late, says('late'))).status).toBe(409);
  expect((await events('conversation.closed'))[0]?.payload).toMatchObject({ turnCount: 2 });
});

test('a secret in a turn reaches neither the log nor the channel', async () => {
  const secret = 'a-secret-that-must-not-be-said';
  const redactor = createRedactor([{ name: 'db', value: secret }]);
  const { host, runId, say } = await opened({ redactor });
  await say(says(`it is ${secret}`));
  await say({ resumeValue: { operation: 'close', turn: { content: secret }, outcome: { secret } } });
  const all = await host.ask('GET', `/v1/runs/${runId}/events`, { key: keys.alice });
  const snapshot = await host.ask('GET', `/v1/runs/${runId}`, { key: keys.alice });
  expect(snapshot.body.status).toBe('completed');
  expect(`${all.text}${snapshot.text}`).not.toContain(secret);
  expect(all.text).toContain('[REDACTED]');
});

test('a turn that no event can hold is refused, and the conversation stays open', async () => {
  const { say } = await opened();
  const large = await say(says('x'.repeat(600_000)));
  expect(large.body.error).toMatch(/too_large/);
  expect(told(await say(says('short')))).toEqual([200, 'waiting-approval']);
});

test('whoever folds the events of a run has the channel that its snapshot shows', async () => {
  const { host, runId, say } = await opened();
  for (const content of ['one', { two: 2 }, null]) await say(says(content));
  await say(close);
  const reply = await host.ask('GET', `/v1/runs/${runId}/events`, { key: keys.alice });
  const view = newRunView(runId as RunId);
  for (const { sequence, timestamp, type, nodeId, payload } of eventsIn(reply)) {
    foldRun(view, typedEvent({ seq: sequence, at: Date.parse(timestamp), type, nodeId, payload }));
  }
  const { channels } = (await host.ask('GET', `/v1/runs/${runId}`, { key: keys.alice })).body;
  expect(JSON.stringify((channels as JsonObject).conversation)).toBe(JSON.stringify(view.channels.conversation?.value));
  expect(view.channels.conversation?.value).toHaveLength(5);
});

function eventsIn({ text }: { readonly text: string }): readonly RunEventDoc[] {
  const { events }: { readonly events: readonly RunEventDoc[] } = JSON.parse(text);
  return events;
}
