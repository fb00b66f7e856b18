import { createHmac } from 'node:crypto';
import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { interruptIdOf } from '../../../test/kit/payload-ids.ts';
import { dataFolder, keyOf, type Received, receiver, type Telling, telling } from './receiver.kit.ts';

async function waitingRun(
  { ask }: Telling,
  callbackUrl: string,
  { key = keyOf.alice, workflowId = 'approval' } = {},
): Promise<string> {
  const reply = await ask('POST', '/v1/runs', { key, body: { workflowId, callbackUrl } });
  expect(reply.status, reply.text).toBe(201);
  return String(reply.body.runId);
}

const accept = { resumeValue: { action: 'accept' } };

test('the callback of a run that waits gets a token, and answers with it', async () => {
  const outside = await receiver();
  const host = await telling(await dataFolder(), outside.origin);
  const runId = await waitingRun(host, `${outside.origin}/cb?secret=path`);
  await outside.arrived(1);
  const [told] = outside.received as [Received];
  expect(told.path).toBe('/cb?secret=path');
  expect(told.body).toMatchObject({
    runId,
    interrupt: {
      runId,
      nodeId: 'n0',
      interruptId: interruptIdOf(runId, 'n0'),
      kind: 'approval',
      data: { title: 'Go on?' },
    },
    token: expect.any(String),
    url: `${host.host.url}/v1/interrupts/${told.body.token}`,
    expiresAt: expect.any(String),
  });
  const { secret } = (await host.ask('GET', '/v1/host/cairn/callback-secret')).body;
  const signed = `${told.headers['x-openwop-timestamp']}.${told.text}`;
  const mac = createHmac('sha256', String(secret)).update(signed).digest('hex');
  expect(told.headers['x-openwop-signature']).toBe(`sha256=${mac}`);
  const answered = await host.ask('POST', String(told.body.url), { key: null, body: accept });
  expect([answered.status, answered.text]).toEqual([200, '{}']);
  const { events } = (await host.ask('GET', `/v1/runs/${runId}/events`)).body;
  const resolved = (events as readonly JsonObject[]).find(({ type }) => type === 'interrupt.resolved');
  expect(resolved?.payload).toMatchObject({ resolvedBy: 'alice' });
});

/** A run of alice at a gate of two, and the ways to vote there: by its callback's token, or by a key. */
async function gateOfTwo() {
  const outside = await receiver();
  const host = await telling(await dataFolder(), outside.origin);
  const runId = await waitingRun(host, outside.origin, { workflowId: 'of-two' });
  await outside.arrived(1);
  const [told] = outside.received as [Received];
  return {
    byToken: () => host.ask('POST', String(told.body.url), { key: null, body: accept }),
    byKey: (key: string, body: JsonObject = accept) =>
      host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, { key, body }),
    isOpen: async () =>
      (await host.ask('GET', `/v1/runs/${runId}/interrupts`)).text.includes(interruptIdOf(runId, 'n0')),
  };
}

test('whoever started a run has one vote at its gate, by key or by callback', async () => {
  for (const order of ['key first', 'token first']) {
    const { byToken, byKey, isOpen } = await gateOfTwo();
    const votes = [byToken, () => byKey(keyOf.alice)];
    const replies = [];
    for (const vote of order === 'token first' ? votes : votes.toReversed()) replies.push(await vote());
    expect([order, ...replies.map(({ status }) => status)]).toEqual([order, 200, 200]);
    expect(await isOpen()).toBe(true);
    const other = await byKey(keyOf.alice, { resumeValue: { action: 'reject' } });
    expect([other.status, other.body]).toMatchObject([
      409,
      { error: 'conflict', message: expect.stringContaining('alice') },
    ]);
    expect(await isOpen()).toBe(true);
  }
});

test('somebody who is called callback votes for themselves, beside the callback of a run', async () => {
  const { byToken, byKey, isOpen } = await gateOfTwo();
  expect((await byKey(keyOf.callback)).status).toBe(200);
  expect(await isOpen()).toBe(true);
  expect((await byToken()).status).toBe(200);
  expect(await isOpen()).toBe(false);
});

test('a tenant whose name no header can hold is told as well', async () => {
  const outside = await receiver();
  const host = await telling(await dataFolder(), outside.origin);
  const runId = await waitingRun(host, `${outside.origin}/`, { key: keyOf.abroad });
  await outside.arrived(1);
  const [told] = outside.received as [Received];
  expect(told.body.runId).toBe(runId);
  expect(decodeURI(String(told.headers['x-openwop-webhook-id']))).toBe('callbacks:Łódź 3 €');
});

test('the secret of callbacks is each tenant’s own', async () => {
  const host = await telling(await dataFolder());
  const secrets = [keyOf.alice, keyOf.stranger].map(
    async (key) => (await host.ask('GET', '/v1/host/cairn/callback-secret', { key })).body.secret,
  );
  const [mine, theirs] = await Promise.all(secrets);
  expect(mine).toMatch(/^[0-9a-f]{64}$/);
  expect(mine).not.toBe(theirs);
});

test('the address is seen only with audit:read', async () => {
  const outside = await receiver();
  const host = await telling(await dataFolder(), outside.origin);
  const runId = await waitingRun(host, `${outside.origin}/cb?secret=path`);
  for (const [key, isSeen] of [
    [keyOf.alice, false],
    [keyOf.auditor, true],
  ] as const) {
    const texts = await Promise.all(
      ['', '/events', '/debug-bundle'].map(
        async (rest) => (await host.ask('GET', `/v1/runs/${runId}${rest}`, { key })).text,
      ),
    );
    expect(texts.map((text) => text.includes('secret=path'))).toEqual([false, isSeen, isSeen]);
  }
});

test('a callback that was not reached is told after a restart, unless the question was answered meanwhile', async () => {
  let isDown = true;
  const outside = await receiver((response) => void response.writeHead(isDown ? 503 : 204).end());
  const data = await dataFolder();
  const first = await telling(data, outside.origin);
  const [waits, answered] = [
    await waitingRun(first, `${outside.origin}/a`),
    await waitingRun(first, `${outside.origin}/b`),
  ];
  await outside.arrived(2);
  await first.ask('POST', `/v1/runs/${answered}/interrupts/n0`, { body: accept });
  await first.host.close();
  isDown = false;
  const before = outside.received.length;
  const second = await telling(data, outside.origin);
  await outside.arrived(before + 1);
  const again = outside.received.at(-1) as Received;
  expect([again.path, again.body.runId]).toEqual(['/a', waits]);
  const reply = await second.ask('POST', `${second.host.url}/v1/interrupts/${again.body.token}`, {
    key: null,
    body: accept,
  });
  expect(reply.status).toBe(200);
  expect(outside.received.slice(before).map(({ path }) => path)).toEqual(['/a']);
});

test('a run without a callback, or of another tenant, tells nobody', async () => {
  const outside = await receiver();
  const host = await telling(await dataFolder(), outside.origin);
  await host.ask('POST', '/v1/runs', { body: { workflowId: 'approval' } });
  await host.ask('POST', '/v1/runs', { key: keyOf.stranger, body: { workflowId: 'approval' } });
  const runId = await waitingRun(host, outside.origin);
  await outside.arrived(1);
  expect(outside.received.map(({ body }) => body.runId)).toEqual([runId]);
});

test.each([
  'https://127.0.0.1/',
  'http://example.com/',
  'https://[::1]/',
  'https://10.1.2.3/',
  'ftp://example.com/',
  'x',
])('a run whose callback is %s is not created', async (callbackUrl) => {
  const host = await telling(await dataFolder());
  const reply = await host.ask('POST', '/v1/runs', { body: { workflowId: 'approval', callbackUrl } });
  expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
  expect((await host.ask('GET', '/v1/runs')).body.runs).toEqual([]);
});
