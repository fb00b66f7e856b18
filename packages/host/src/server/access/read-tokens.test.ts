/** Read tokens over the HTTP surface: what they open, and when they end. */
import type { JsonObject } from '@cairn/protocol';
import { expect, test, vi } from 'vitest';
import { emptyStore } from '../../log/empty-store.kit.ts';
import { asked, everyRoute, routeCases, waitingRun } from '../http/route-cases.kit.ts';
import { approval } from '../sample-workflows.kit.ts';
import { hostSecret } from '../secrets/host-secret.ts';
import { keys, type Served, type ServedOptions, served } from '../served.kit.ts';
import { EndedSessions } from './ended-sessions.ts';
import { ReadTokens } from './read-tokens.ts';

async function bench(options: ServedOptions = {}) {
  const clock = { at: Date.now() };
  const host = await served({ now: () => clock.at, ...options });
  await host.ask('POST', '/v1/workflows', { body: approval });
  return { host, clock };
}

const started = async (host: Served, contextId?: string) => {
  const configurable = contextId === undefined ? {} : { 'cairn.contextId': contextId };
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: approval.id, configurable } });
  return { runId: String(body.runId), contextId: String(body.contextId) };
};

async function minted(host: Served, runId: string, body: JsonObject = {}) {
  const { status, body: answer } = await host.ask('POST', `/v1/runs/${runId}/tokens`, { body });
  expect([status, answer]).toEqual([201, expect.anything()]);
  return { token: String(answer.token), tokenId: String(answer.tokenId), answer };
}

/** Requests without a key. */
async function read(host: Served, path: string, accept = 'application/json') {
  const response = await fetch(`${host.url}${path}`, { headers: { accept } });
  const body: { readonly error?: string } = await response.json();
  return `${response.status} ${body.error ?? ''}`.trim();
}

const events = (runId: string, token: string) => `/v1/runs/${runId}/events?token=${token}`;

test('the routes that take a token are those that say so, and every other one refuses it', async () => {
  const host = await served(everyRoute);
  const names = await waitingRun(host);
  const { token } = await minted(host, names.runId, { of: 'context' });
  for (const route of host.server.routes.filter(({ scope }) => scope !== null)) {
    const takes = 'takesToken' in route && route.takesToken === true;
    expect([route.doc.id, Object.hasOwn(route.doc.query?.shape ?? {}, 'token')]).toEqual([route.doc.id, takes]);
    if (takes) continue;
    const found = routeCases[route.doc.id]?.request(names) ?? {};
    const query = [found.query, `token=${token}`].filter((part) => part !== undefined).join('&');
    const { path, with: rest } = asked(route.path, { ...found, query });
    for (const key of [null, token]) {
      const reply = await host.ask(route.method, path, { ...rest, key });
      expect([route.doc.id, reply.status]).toEqual([route.doc.id, 401]);
    }
  }
});

test('a token of a run reads the stream, the events and the poll of that run, and nothing else', async () => {
  const { host } = await bench();
  const { runId, contextId } = await started(host);
  const sibling = await started(host, contextId);
  const { token, answer } = await minted(host, runId);
  expect(answer).toMatchObject({ of: 'run', runId, contextId, eventsUrl: `${host.url}${events(runId, token)}` });
  expect(await read(host, events(runId, token))).toBe('200');
  expect(await read(host, `/v1/runs/${runId}/events/poll?token=${token}`)).toBe('200');
  const stop = new AbortController();
  const stream = await fetch(`${host.url}${events(runId, token)}`, {
    headers: { accept: 'text/event-stream' },
    signal: stop.signal,
  });
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  stop.abort();
  for (const path of [
    `/v1/runs/${runId}?token=${token}`,
    `/v1/runs/${runId}/debug-bundle?token=${token}`,
    `/v1/runs?token=${token}`,
  ]) {
    expect([path, await read(host, path)]).toEqual([path, '401 unauthenticated']);
  }
  expect(await read(host, events(sibling.runId, token))).toBe('404 not_found');
});

test('a token of a context reads the streams of its runs, also later ones, and not those of another context', async () => {
  const { host } = await bench();
  const { runId, contextId } = await started(host);
  const { token } = await minted(host, runId, { of: 'context' });
  const later = await started(host, contextId);
  const elsewhere = await started(host);
  expect(await read(host, events(later.runId, token))).toBe('200');
  expect(await read(host, events(elsewhere.runId, token))).toBe('404 not_found');
});

test('a token shows no operator rows, whoever minted it', async () => {
  const { host } = await bench();
  const { runId } = await started(host);
  const { body } = await host.ask('POST', `/v1/runs/${runId}/tokens`, { key: keys.auditor, body: {} });
  const path = `${events(runId, String(body.token))}&streamMode=debug`;
  const shown = await (await fetch(`${host.url}${path}`)).text();
  expect(shown).toContain('run.started');
  expect(shown).not.toContain('cairn.timer');
  expect(shown).not.toContain('cairn.step');
});

test('a token ends after its time, and no token lives longer than a day', async () => {
  const { host, clock } = await bench();
  const { runId } = await started(host);
  const { token } = await minted(host, runId, { expiresInSeconds: 60 });
  clock.at += 59_000;
  expect(await read(host, events(runId, token))).toBe('200');
  clock.at += 1_000;
  expect(await read(host, events(runId, token))).toBe('401 key_expired');
  const long = await host.ask('POST', `/v1/runs/${runId}/tokens`, { body: { expiresInSeconds: 86_401 } });
  expect(long.status).toBe(400);
});

test('a revoked token stays revoked over a restart, and others survive it', async () => {
  const options = { store: await emptyStore(), deriveKeys: hostSecret({ folder: null }) };
  const { host } = await bench(options);
  const { runId } = await started(host);
  const [first, second] = [await minted(host, runId), await minted(host, runId)];
  const revoked = await host.ask('DELETE', `/v1/runs/${runId}/tokens/${first.tokenId}`);
  expect(revoked.status).toBe(204);
  expect(await read(host, events(runId, first.token))).toBe('401 key_expired');
  const { host: next } = await bench(options);
  expect(await read(next, events(runId, first.token))).toBe('401 key_expired');
  expect(await read(next, events(runId, second.token))).toBe('200');
});

/** A stream that has sent its first events. */
async function streamed(host: Served, path: string, headers: Readonly<Record<string, string>> = {}) {
  const leave = new AbortController();
  const options = { headers: { accept: 'text/event-stream', ...headers }, signal: leave.signal };
  const reader = (await fetch(`${host.url}${path}`, options)).body?.getReader();
  await reader?.read();
  const next = async (): Promise<string> => {
    const { value } = (await reader?.read()) ?? {};
    return new TextDecoder().decode(value);
  };
  return { next, leave: () => leave.abort() };
}

test('a revoked token takes its open streams and polls with it, and those of others stay', async () => {
  const { host } = await bench();
  const { runId } = await started(host);
  const [revoked, kept] = [await minted(host, runId), await minted(host, runId)];
  const [cut, open] = [
    await streamed(host, events(runId, revoked.token)),
    await streamed(host, events(runId, kept.token)),
  ];
  const poll = fetch(`${host.url}/v1/runs/${runId}/events/poll?token=${revoked.token}&lastSequence=1000`);
  await vi.waitUntil(() => host.server.open.polls === 1);
  expect((await host.ask('DELETE', `/v1/runs/${runId}/tokens/${revoked.tokenId}`)).status).toBe(204);
  await expect(poll).rejects.toThrow();
  await expect(cut.next()).rejects.toThrow();
  await host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, { body: { resumeValue: { action: 'accept' } } });
  expect(await open.next()).toContain('interrupt.resolved');
  open.leave();
});

test('a session that somebody ends takes its open streams with it', async () => {
  const { host } = await bench();
  const { runId } = await started(host);
  const { headers } = await host.ask('POST', '/v1/host/cairn/session');
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  const stream = await streamed(host, `/v1/runs/${runId}/events`, { cookie });
  await host.ask('DELETE', '/v1/host/cairn/session', { key: null, headers: { cookie } });
  await expect(stream.next()).rejects.toThrow();
});

test('a tenant that ends thousands of sessions does not bring back what others revoked', async () => {
  const { expiring } = await emptyStore();
  const revoked = { tenant: 'victim', id: 'read:one' };
  const limits: number[] = [];
  const put: typeof expiring.put = (record, { now, maxOfOwner }) => {
    limits.push(maxOfOwner);
    return expiring.put(record, { now, maxOfOwner: 2 });
  };
  const ended = new EndedSessions({ ...expiring, put }, () => 0);
  await ended.add(revoked, 10);
  for (const [i, id] of ['s0', 's1', 'last'].entries()) await ended.add({ tenant: 'noisy', id }, 1_000 + i);
  const has = (id: string) => ended.has({ tenant: 'noisy', id });
  expect(await Promise.all([ended.has(revoked), has('s0'), has('s1'), has('last')])).toEqual([true, false, true, true]);
  expect(limits).toEqual([10_000, 10_000, 10_000, 10_000]);
});

test('the id of a session, or any other text, revokes nothing', async () => {
  const { host } = await bench();
  const { runId } = await started(host);
  const { headers } = await host.ask('POST', '/v1/host/cairn/session');
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  const { id } = JSON.parse(Buffer.from(cookie.split('=')[1]?.split('.')[0] ?? '', 'base64url').toString());
  const revoke = (tokenId: string) => host.ask('DELETE', `/v1/runs/${runId}/tokens/${encodeURIComponent(tokenId)}`);
  expect((await revoke(String(id))).status).toBe(204);
  expect((await host.ask('GET', `/v1/runs/${runId}`, { key: null, headers: { cookie } })).status).toBe(200);
  expect((await revoke('no such id')).status).toBe(204);
  expect(await host.store.expiring.count('revoked-token', 't', 0)).toBe(1);
});

test('another tenant can neither mint nor revoke a token, and a changed token is refused and counted', async () => {
  const { host } = await bench({ limits: { maxFailedAuthPerMinute: 2 } });
  const { runId } = await started(host);
  const { token, tokenId } = await minted(host, runId);
  const key = keys.stranger;
  expect((await host.ask('POST', `/v1/runs/${runId}/tokens`, { key, body: {} })).status).toBe(404);
  expect((await host.ask('DELETE', `/v1/runs/${runId}/tokens/${tokenId}`, { key })).status).toBe(404);
  expect(await read(host, events(runId, token))).toBe('200');
  const [payload = '', mac = ''] = token.split('.');
  const other = Buffer.from(payload, 'base64url').toString().replace(runId, 'run_another');
  const forged = `${Buffer.from(other).toString('base64url')}.${mac}`;
  expect(await read(host, events(runId, forged))).toBe('401 unauthenticated');
  expect(await read(host, events(runId, 'x'))).toBe('401 unauthenticated');
  expect(await read(host, events(runId, token))).toBe('429 rate_limited');
});

test('a tenant revokes a thousand tokens in a day; the same one again, and another tenant, go on', async () => {
  const known = new Set<string>();
  const tokens = new ReadTokens({
    now: () => 0,
    keys: [Buffer.alloc(32)],
    scopesOf: () => null,
    revoked: {
      has: async ({ tenant, id }) => known.has(`${tenant} ${id}`),
      count: async (_, tenant) => [...known].filter((one) => one.startsWith(`${tenant} `)).length,
      add: async ({ tenant, id }) => void known.add(`${tenant} ${id}`),
    },
  });
  const id = (i: number) => `${i}`.padStart(22, '0');
  for (let i = 0; i < 1_000; i += 1) await tokens.revoke('t', id(i));
  await expect(tokens.revoke('t', id(1_000))).rejects.toMatchObject({
    code: 'rate_limited',
    details: { scope: 'tenant' },
  });
  await tokens.revoke('t', id(7));
  await tokens.revoke('other', id(1_000));
  expect(known.size).toBe(1_001);
});
