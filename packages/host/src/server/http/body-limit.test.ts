/** The advertised body limit: a body of this size is taken and recorded, and a larger one is refused at the door. */
import type { JsonObject, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { chain, noop } from '../sample-workflows.kit.ts';
import { type Served, served } from '../served.kit.ts';

const LIMIT = 491_520;
const asks = chain('asks', {
  typeId: 'core.interrupt',
  config: { kind: 'custom', data: { customKind: 'local.test', payload: {} } },
});

async function host(): Promise<Served> {
  const opened = await served({ maxRequestBodyBytes: 1_048_576 });
  for (const workflow of [noop, asks]) await opened.engine.register('t', workflow);
  return opened;
}

/** A body of exactly so many bytes. */
function sized(bytes: number, body: (text: string) => JsonObject): string {
  return JSON.stringify(body('x'.repeat(bytes - JSON.stringify(body('')).length)));
}

const tooLarge = { status: 413, body: { error: 'payload_too_large', details: { maxRequestBodyBytes: LIMIT } } };

test('inputs of the advertised size start a run that completes; one byte more is refused', async () => {
  const to = await host();
  const { body } = await to.ask('GET', '/.well-known/openwop');
  expect(body).toMatchObject({ limits: { maxRequestBodyBytes: LIMIT } });
  const start = (bytes: number) =>
    to.ask('POST', '/v1/runs', { raw: sized(bytes, (text) => ({ workflowId: 'noop', inputs: { text } })) });
  const taken = await start(LIMIT);
  expect(taken.status).toBe(201);
  expect((await to.store.log.head(taken.body.runId as RunId))?.record.status).toBe('completed');
  expect(await start(LIMIT + 1)).toMatchObject(tooLarge);
});

test('an answer of the advertised size completes its run, and so does a larger one that fits in a request', async () => {
  const to = await host();
  const answered = async (bytes: number) => {
    const started = await to.ask('POST', '/v1/runs', { body: { workflowId: 'asks' } });
    const runId = started.body.runId as RunId;
    const raw = sized(bytes, (text) => ({ resumeValue: { text } }));
    const { status, body } = await to.ask('POST', `/v1/runs/${runId}/interrupts/n0`, { raw });
    return [status, body.error, (await to.store.log.head(runId))?.record.status];
  };
  expect(await answered(LIMIT)).toEqual([200, undefined, 'completed']);
  expect(await answered(LIMIT + 1)).toEqual([200, undefined, 'completed']);
  expect(await answered(1_048_576)).toEqual([200, undefined, 'completed']);
  expect(await answered(1_048_577)).toEqual([413, 'payload_too_large', 'waiting-input']);
});

test('a client that sends a much larger body gets the refusal, not a broken connection', async () => {
  const to = await host();
  const raw = sized(8_000_000, (text) => ({ workflowId: 'noop', inputs: { text } }));
  const answer = await to.ask('POST', '/v1/runs', { raw });
  expect(answer).toMatchObject(tooLarge);
  expect(answer.headers.get('connection')).not.toBe('close');
});

test('a body whose numbers grow when they are written is refused before anything is recorded', async () => {
  const to = await host();
  const raw = `{"workflowId":"noop","inputs":{"a":[${Array.from({ length: 60_000 }, () => '1e20').join(',')}]}}`;
  expect(await to.ask('POST', '/v1/runs', { raw })).toMatchObject({
    status: 413,
    body: { error: 'event_too_large', details: { type: 'run.started' } },
  });
  expect((await to.store.runIndex.list({ tenant: 't', limit: 9 })).runs).toEqual([]);
});

test('so is an answer that grows beyond what an artifact takes, by a key or by a token', async () => {
  const to = await host();
  const { body } = await to.ask('POST', '/v1/runs', { body: { workflowId: 'asks' } });
  const path = `/v1/runs/${body.runId}/interrupts/n0`;
  const { token } = (await to.ask('POST', `/v1/host/cairn${path.slice('/v1'.length)}/token`, { body: {} })).body;
  const raw = `{"resumeValue":{"a":[${Array.from({ length: 100_000 }, () => '1e20').join(',')}]}}`;
  for (const target of [path, `/v1/interrupts/${token}`]) {
    const reply = await to.ask('POST', target, { raw });
    expect([target, reply.status, reply.body.error]).toEqual([target, 413, 'event_too_large']);
  }
  expect((await to.ask('GET', `/v1/runs/${body.runId}`)).body.status).toMatch(/^waiting-/);
});
