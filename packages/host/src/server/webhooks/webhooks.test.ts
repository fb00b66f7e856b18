import { createHmac } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Json, JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { RawConnection } from '../http/raw-http.kit.ts';
import { dataFolder, keyOf, type Received, receiver, type Telling, telling } from './receiver.kit.ts';
import { MAX_WEBHOOKS } from './webhooks.ts';

const events = ['run.started', 'run.completed'];

async function registered({ ask }: Telling, body: JsonObject) {
  const reply = await ask('POST', '/v1/webhooks', { body: { events, ...body } as Json });
  expect(reply.status, reply.text).toBe(201);
  return reply.body as { webhookId: string; secret: string; secretFingerprint: string };
}

const places = (received: readonly Received[]) =>
  received.map(({ body }) => `${body.runId} ${(body.event as JsonObject).type}`);

const listed = async ({ ask }: Telling, key = keyOf.alice) =>
  (await ask('GET', '/v1/webhooks', { key })).body.webhooks as readonly JsonObject[];

/** Asks until it is so; each question is a round trip, so this ends as soon as the host has caught up. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

test('a delivery carries the event, and a signature its receiver can check, under both names', async () => {
  const outside = await receiver();
  const host = await telling(await dataFolder(), outside.origin);
  const { webhookId, secret, secretFingerprint } = await registered(host, { url: `${outside.origin}/hook?a=1` });
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  const runId = await host.run();
  await outside.arrived(2);
  const [first] = outside.received as [Received];
  const event = ((await host.ask('GET', `/v1/runs/${runId}/events`)).body.events as readonly JsonObject[])[0];
  expect([first.path, first.body]).toEqual(['/hook?a=1', { runId, workspaceId: 'acme', event }]);
  const timestamp = String(first.headers['x-openwop-timestamp']);
  expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(60);
  const mac = createHmac('sha256', secret).update(`${timestamp}.${first.text}`).digest('hex');
  for (const family of ['x-openwop-', 'openwop-']) {
    expect(first.headers).toMatchObject({
      [`${family}webhook-id`]: webhookId,
      [`${family}event-type`]: 'run.started',
      [`${family}timestamp`]: timestamp,
      [`${family}signature`]: `sha256=${mac}`,
      [`${family}signature-algorithm`]: 'v1',
    });
  }
  expect(first.headers['user-agent']).toMatch(/^openwop-webhook-dispatcher\/\d/);
  expect(first.headers['content-type']).toBe('application/json');
  await until(async () => (await listed(host))[0]?.delivered === 2);
  expect(await listed(host)).toEqual([
    {
      webhookId,
      url: `${outside.origin}/hook?a=1`,
      events,
      secretFingerprint,
      createdAt: expect.any(String),
      state: 'active',
      pending: 0,
      delivered: 2,
      deadLetters: [],
    },
  ]);
});

test('only events of the asked types, of the tenant’s runs, with one of the tags, from the registration on', async () => {
  const outside = await receiver();
  const host = await telling(await dataFolder(), outside.origin);
  await host.run({ tags: ['red'] });
  await registered(host, { url: outside.origin, events: ['run.completed'], tags: ['red', 'blue'], tenantId: 'acme' });
  await host.run();
  await host.run({ tags: ['green'] });
  await host.run({ tags: ['red'], key: keyOf.stranger });
  const red = await host.run({ tags: ['green', 'red'] });
  const blue = await host.run({ tags: ['blue'] });
  await outside.arrived(2);
  await until(async () => (await listed(host))[0]?.pending === 0);
  expect(places(outside.received).toSorted()).toEqual([`${blue} run.completed`, `${red} run.completed`].toSorted());
});

test('after a restart what was refused is delivered, and what was taken is not delivered again', async () => {
  let isDown = false;
  const outside = await receiver((response) => void response.writeHead(isDown ? 500 : 200).end());
  const data = await dataFolder();
  const first = await telling(data, outside.origin);
  const { secret } = await registered(first, { url: outside.origin });
  const before = await first.run();
  await outside.arrived(2);
  isDown = true;
  const during = await first.run();
  await outside.arrived(3);
  await until(async () => (await listed(first))[0]?.lastError === 'the receiver answered 500');
  await first.host.close();
  isDown = false;
  const second = await telling(data, outside.origin);
  await outside.arrived(5);
  const after = await second.run();
  await outside.arrived(7);
  const kinds = (runId: string) => events.map((type) => `${runId} ${type}`);
  const told = places(outside.received);
  expect(told.filter((place) => place.startsWith(before))).toEqual(kinds(before));
  expect(told.filter((place) => place.startsWith(during))).toEqual([`${during} run.started`, ...kinds(during)]);
  expect(told.filter((place) => place.startsWith(after))).toEqual(kinds(after));
  const last = outside.received.at(-1) as Received;
  const signed = `${last.headers['x-openwop-timestamp']}.${last.text}`;
  expect(last.headers['x-openwop-signature']).toBe(
    `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`,
  );
});

test('a receiver that takes connections and never answers slows neither runs nor other receivers', async () => {
  const [stuck, quick] = [await receiver(() => undefined), await receiver()];
  const host = await telling(await dataFolder(), stuck.origin, quick.origin);
  await registered(host, { url: stuck.origin });
  await registered(host, { url: quick.origin });
  const runs = await Promise.all(Array.from({ length: 40 }, () => host.run()));
  await quick.arrived(80);
  expect(new Set(places(quick.received)).size).toBe(80);
  expect(stuck.received.length).toBeLessThanOrEqual(8);
  const [, last] = await listed(host);
  expect(last).toMatchObject({ state: 'active' });
  expect(runs).toHaveLength(40);
});

test('a redirect is not followed, and counts as a failure', async () => {
  const elsewhere = await receiver();
  const outside = await receiver((response) => void response.writeHead(302, { location: elsewhere.origin }).end());
  const host = await telling(await dataFolder(), outside.origin, elsewhere.origin);
  await registered(host, { url: outside.origin });
  await host.run();
  await until(async () => (await listed(host))[0]?.lastError === 'the receiver answered 302');
  expect(elsewhere.received).toEqual([]);
});

test('a deleted webhook is told nothing more; another tenant’s is not there', async () => {
  const outside = await receiver();
  const host = await telling(await dataFolder(), outside.origin);
  const { webhookId } = await registered(host, { url: outside.origin });
  const path = `/v1/webhooks/${webhookId}`;
  const refusals = [
    [await host.ask('DELETE', path, { key: keyOf.stranger }), 404, 'not_found'],
    [await host.ask('DELETE', '/v1/webhooks/callbacks:acme'), 404, 'not_found'],
    [await host.ask('DELETE', `${path}?tenantId=other`), 403, 'forbidden'],
  ] as const;
  for (const [reply, status, error] of refusals) expect([reply.status, reply.body.error]).toEqual([status, error]);
  expect(await listed(host, keyOf.stranger)).toEqual([]);
  const gone = await host.ask('DELETE', `${path}?tenantId=acme`);
  expect([gone.status, gone.text]).toEqual([204, '']);
  expect((await host.ask('DELETE', path)).status).toBe(404);
  expect(await listed(host)).toEqual([]);
  const other = await receiver();
  await host.run();
  expect([outside.received, other.received]).toEqual([[], []]);
});

test.each<[JsonObject, number, string]>([
  [{ url: 'https://127.0.0.1/' }, 400, 'validation_error'],
  [{ url: 'https://169.254.169.254/latest/meta-data' }, 400, 'validation_error'],
  [{ url: 'http://example.com/' }, 400, 'validation_error'],
  [{ url: 'not a url' }, 400, 'validation_error'],
  [{ url: 'https://user:pass@example.com/' }, 400, 'validation_error'],
  [{ events: [] }, 400, 'validation_error'],
  [{ events: ['run.complete'] }, 400, 'validation_error'],
  [{ events: ['cairn.step.requested'] }, 400, 'validation_error'],
  [{ events: 'run.completed' }, 400, 'validation_error'],
  [{ secret: 'short' }, 400, 'validation_error'],
  [{ more: true }, 400, 'validation_error'],
  [{ tags: [''] }, 400, 'validation_error'],
  [{ tenantId: 'other' }, 403, 'forbidden'],
])('refuses the webhook %j', async (fields, status, error) => {
  const host = await telling(await dataFolder(), 'http://127.0.0.1:9');
  const body = { url: 'http://127.0.0.1:9/', events, ...fields };
  const reply = await host.ask('POST', '/v1/webhooks', { body });
  expect([reply.status, reply.body.error]).toEqual([status, error]);
  expect(await listed(host)).toEqual([]);
});

test('a wrong type is answered with the nearest right one, a refused address with its reason', async () => {
  const host = await telling(await dataFolder());
  const ask = async (body: Json) => (await host.ask('POST', '/v1/webhooks', { body })).body.details;
  expect(await ask({ url: 'https://x.example/', events: ['run.complete'] })).toMatchObject({
    parameter: 'events',
    hint: 'Did you mean run.completed?',
  });
  expect(await ask({ url: 'https://10.0.0.1/', events })).toMatchObject({
    parameter: 'url',
    reason: 'http_url_rejected',
  });
});

test('a tenant has a bounded number of webhooks', async () => {
  const host = await telling(await dataFolder(), 'http://127.0.0.1:9');
  for (let i = 0; i < MAX_WEBHOOKS; i += 1) await registered(host, { url: 'http://127.0.0.1:9/' });
  const reply = await host.ask('POST', '/v1/webhooks', { body: { url: 'http://127.0.0.1:9/', events } });
  expect([reply.status, reply.body.error]).toEqual([409, 'conflict']);
});

test('however many webhooks are registered at once, no more than a tenant may have are there', async () => {
  const host = await telling(await dataFolder(), 'http://127.0.0.1:9');
  const body = JSON.stringify({ url: 'http://127.0.0.1:9/', events });
  const { port } = new URL(host.host.url ?? '');
  const head = `POST /v1/webhooks HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${keyOf.alice}\r\n`;
  const request = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const PER_CONNECTION = 10;
  const connections = await Promise.all(
    Array.from({ length: MAX_WEBHOOKS / PER_CONNECTION + 1 }, () => RawConnection.open(Number(port))),
  );
  onTestFinished(() => {
    for (const connection of connections) connection.close();
  });
  // In one write each, so that the host has many of them before it has written the first one down.
  for (const connection of connections) connection.send(request.repeat(PER_CONNECTION));
  const statuses: unknown[] = [];
  for (const connection of connections) {
    for (let i = 0; i < PER_CONNECTION; i += 1) statuses.push((await connection.response('POST'))?.status);
  }
  expect(statuses.filter((status) => status === 201)).toHaveLength(MAX_WEBHOOKS);
  expect(statuses.filter((status) => status === 409)).toHaveLength(10);
  const one = (await listed(host))[0];
  expect((await host.ask('DELETE', `/v1/webhooks/${one?.webhookId}`)).status).toBe(204);
  await registered(host, { url: 'http://127.0.0.1:9/' });
});

test('a registration whose host died before it recorded the answer is the same webhook when it is repeated', async () => {
  const data = await dataFolder();
  const body = { url: 'http://127.0.0.1:9/', events };
  const register = ({ ask }: Telling) => ask('POST', '/v1/webhooks', { body, headers: { 'idempotency-key': 'k' } });
  const before = await telling(data, 'http://127.0.0.1:9');
  const first = await register(before);
  await before.host.close();
  // What a death between the two commits leaves behind.
  const db = new DatabaseSync(join(data, 'cairn.db'));
  db.exec('DELETE FROM idempotency');
  db.close();
  const after = await telling(data, 'http://127.0.0.1:9');
  const again = await register(after);
  expect([again.status, again.body]).toEqual([201, first.body]);
  expect(await listed(after)).toHaveLength(1);
  expect((await after.ask('DELETE', `/v1/webhooks/${first.body.webhookId}`)).status).toBe(204);
});

test('the secret is shown once and is nowhere on disk, also when the request can be repeated', async () => {
  const data = await dataFolder();
  const host = await telling(data, 'http://127.0.0.1:9');
  const own = 'a-secret-of-the-subscriber';
  const headers = { 'idempotency-key': 'once-please' };
  const body = { url: 'http://127.0.0.1:9/', events };
  const first = await host.ask('POST', '/v1/webhooks', { body, headers });
  const again = await host.ask('POST', '/v1/webhooks', { body, headers });
  expect(again.headers.get('openwop-idempotent-replay')).toBe('true');
  expect([again.status, again.body]).toEqual([201, first.body]);
  expect(first.headers.get('cache-control')).toBe('no-store');
  const mine = await registered(host, { ...body, secret: own });
  expect(mine.secret).toBe(own);
  expect(await listed(host)).toHaveLength(2);
  expect(JSON.stringify(await listed(host))).not.toContain(String(first.body.secret));
  await host.host.close();
  for (const file of await readdir(data)) {
    const bytes = await readFile(join(data, file));
    for (const secret of [own, String(first.body.secret)])
      expect([file, bytes.includes(secret)]).toEqual([file, false]);
  }
});
