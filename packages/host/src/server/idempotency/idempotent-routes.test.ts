/** `Idempotency-Key` over every route that changes something, out of the route table. */
import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Engine } from '../../engine/engine.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Store } from '../../log/ports/store.ts';
import { asked, everyRoute, type Names, routeCases, waitingRun } from '../http/route-cases.kit.ts';
import type { Route } from '../http/routes.ts';
import { keys, type Served, served } from '../served.kit.ts';
import { IDEMPOTENCY_LEASE_MS } from './held-claim.ts';

const named = ({ method, path }: Route) => `${method} ${path}`;
/** An AG-UI run has its id for a key, and a repeated one begins with the messages so far: `e2e/agui` tests it. */
const idempotentRoutes = (host: Served) =>
  host.server.routes.filter(({ method, repeatable, doc }) => method !== 'GET' && !repeatable && doc.id !== 'runAgui');

function caseOf(id: string) {
  const found = routeCases[id];
  if (found === undefined) throw new Error(`There is no case for ${id}.`);
  return found;
}

async function sender(host: Served, route: Route, names?: Names) {
  const { request, given = waitingRun } = caseOf(route.doc.id);
  const { path, with: content } = asked(route.path, request(names ?? (await given(host))));
  const key = route.scope === null ? null : keys.auditor;
  return (idempotencyKey: string, more: object = {}) =>
    host.ask(route.method, path, {
      ...content,
      key,
      headers: { ...content.headers, 'idempotency-key': idempotencyKey },
      ...more,
    });
}

const replayed = ({ headers }: { readonly headers: Headers }) => headers.get('openwop-idempotent-replay');

test('there are such routes, and each is in the table', async () => {
  const paths = idempotentRoutes(await served(everyRoute)).map(named);
  expect(paths).toEqual(expect.arrayContaining(['POST /v1/runs', 'POST /v1/runs/{runId}:pause', 'POST /v1/webhooks']));
});

test('every route gives the same answer to the same request under one key, and says that it did', async () => {
  const host = await served(everyRoute);
  for (const [i, route] of idempotentRoutes(host).entries()) {
    const send = await sender(host, route);
    const [first, second] = [await send(`key-${i}`), await send(`key-${i}`)];
    expect([named(route), first.status, replayed(first)]).toEqual([
      named(route),
      routeCases[route.doc.id]?.status,
      null,
    ]);
    expect([named(route), second.status, replayed(second)]).toEqual([named(route), first.status, 'true']);
    expect([named(route), second.text]).toEqual([named(route), first.text]);
    for (const header of ['location', 'content-type']) {
      expect([named(route), header, second.headers.get(header)]).toEqual([
        named(route),
        header,
        first.headers.get(header),
      ]);
    }
  }
});

test('every route carries out one of many equal requests that arrive together', async () => {
  const host = await served(everyRoute);
  for (const [i, route] of idempotentRoutes(host).entries()) {
    const send = await sender(host, route);
    const replies = await Promise.all(Array.from({ length: 6 }, () => send(`race-${i}`)));
    expect([named(route), new Set(replies.map(({ status, text }) => `${status} ${text}`)).size]).toEqual([
      named(route),
      1,
    ]);
    expect([named(route), replies.filter((reply) => replayed(reply) === null).length]).toEqual([named(route), 1]);
  }
});

test('every route refuses another request under a used key, and changes nothing for it', async () => {
  const host = await served(everyRoute);
  // A route with keys of its own takes the header only where a request has none.
  const routes = idempotentRoutes(host).filter(({ ownKey }) => ownKey === undefined);
  for (const [i, route] of routes.entries()) {
    const key = `used-${i}`;
    await (await sender(host, route))(key);
    const { given = waitingRun, request } = caseOf(route.doc.id);
    const other = await given(host);
    const isNamed = JSON.stringify(request(other)) !== JSON.stringify(request({ ...other, runId: 'x', other: 'y' }));
    // Another path or another body; under another token an open route has keys of its own.
    const send = await sender(host, route, other);
    const reply = await (isNamed ? send(key) : send(key, { raw: '{"workflowId":"another"}' }));
    const expected = route.scope === null ? routeCases[route.doc.id]?.status : 409;
    expect([named(route), reply.status]).toEqual([named(route), expected]);
    if (expected === 409) expect([named(route), reply.body.error]).toEqual([named(route), 'idempotency_key_mismatch']);
  }
});

test('every route refuses a key that is too long, and does nothing', async () => {
  const host = await served(everyRoute);
  for (const route of idempotentRoutes(host)) {
    const send = await sender(host, route);
    expect([named(route), (await send('x'.repeat(256))).status]).toEqual([named(route), 400]);
    expect([named(route), (await send('x'.repeat(255))).status]).toEqual([
      named(route),
      routeCases[route.doc.id]?.status,
    ]);
  }
});

test('the same key of another tenant is another key', async () => {
  const host = await served(everyRoute);
  const headers = { 'idempotency-key': 'shared' };
  const register = (key: string) =>
    host.ask('POST', '/v1/workflows', {
      key,
      headers,
      ...asked('', caseOf('registerWorkflow').request({} as Names)).with,
    });
  const replies = [await register(keys.auditor), await register(keys.stranger)];
  expect(replies.map((reply) => [reply.status, replayed(reply)])).toEqual([
    [201, null],
    [201, null],
  ]);
});

test('a final refusal is repeated, a body that was refused can be put right', async () => {
  const host = await served(everyRoute);
  const { runId } = await waitingRun(host);
  const answer = (body: string) =>
    host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, { raw: body, headers: { 'idempotency-key': 'a-1' } });
  expect((await answer('{"resumeValue":{"action":"dance"}}')).status).toBe(400);
  expect((await answer('{"resumeValue":{"action":"accept"}}')).status).toBe(200);
  const late = { raw: '{"resumeValue":{"action":"accept"}}', headers: { 'idempotency-key': 'a-2' } };
  const [first, second] = [
    await host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, late),
    await host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, late),
  ];
  expect([first.status, first.body.error, replayed(first)]).toEqual([409, 'interrupt_already_resolved', null]);
  expect([second.status, second.text, replayed(second)]).toEqual([409, first.text, 'true']);
  expect(second.headers.get('link')).toBe(first.headers.get('link'));
});

test('a request whose host died with it is in flight until its lease has ended, and is then carried out', async () => {
  const store: Store = inMemoryStore();
  let now = Date.now();
  const entered = Promise.withResolvers<void>();
  const never = Promise.withResolvers<never>();
  const dying = await served({
    ...everyRoute,
    store: { ...store, close: async () => undefined },
    now: () => now,
    engine: (engine) =>
      withCancel(engine, () => {
        entered.resolve();
        return never.promise;
      }),
  });
  const { runId } = await waitingRun(dying);
  const cancel = (host: Served) =>
    host.ask('POST', `/v1/runs/${runId}/cancel`, { headers: { 'idempotency-key': 'c' } });
  const lost = cancel(dying);
  await entered.promise;
  const next = await served({ ...everyRoute, store, now: () => now });
  const refused = await cancel(next);
  expect(refused).toMatchObject({ status: 409, body: { error: 'idempotency_in_flight', details: { retryAfter: 1 } } });
  expect(refused.headers.get('retry-after')).toBe('1');
  now += IDEMPOTENCY_LEASE_MS;
  expect(await cancel(next)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  never.reject(new Error('gone'));
  expect((await lost).status).toBe(500);
  const again = await cancel(next);
  expect([again.status, replayed(again)]).toEqual([200, 'true']);
});

/** One append each: their records are part of it. */
const recording = new Set([
  'createRun',
  'answerInterrupt',
  'resolveInterrupt',
  'cancelRun',
  'cancelRunAlias',
  'pauseRun',
  'resumeRun',
  'sendMessage',
  'sendContextMessage',
  'cancelContextTask',
]);

test('what is one append to a run is recorded with it: the answer is repeated although the host died right after it', async () => {
  const store = inMemoryStore();
  const shared: Store = { ...store, close: async () => undefined };
  const idempotency = { ...store.idempotency, save: () => Promise.reject(new Error('died')) };
  const dying = await served({ ...everyRoute, store: { ...shared, idempotency } });
  const next = await served({ ...everyRoute, store: shared });
  const routes = idempotentRoutes(dying).filter(({ doc }) => recording.has(doc.id));
  expect(routes).toHaveLength(recording.size);
  for (const [i, route] of routes.entries()) {
    const names = await (routeCases[route.doc.id]?.given ?? waitingRun)(dying);
    const first = await (await sender(dying, route, names))(`key-${i}`);
    const written = await store.log.head(names.runId as RunId);
    // A token is good at the host that signed it.
    const second = await (await sender(route.scope === null ? dying : next, route, names))(`key-${i}`);
    expect([named(route), first.status]).toEqual([named(route), routeCases[route.doc.id]?.status]);
    expect([named(route), second.status, second.text, replayed(second)]).toEqual([
      named(route),
      first.status,
      first.text,
      'true',
    ]);
    expect(await store.log.head(names.runId as RunId)).toEqual(written);
  }
});

/** The engine with another way to cancel. */
const withCancel = (engine: Engine, cancel: Engine['cancel']): Engine =>
  new Proxy(engine, {
    get: (real, name) => {
      if (name === 'cancel') return cancel;
      const value = Reflect.get(real, name) as unknown;
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
