import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { emptyStore } from '../../log/empty-store.kit.ts';
import type { Store } from '../../log/ports/store.ts';
import { approval } from '../sample-workflows.kit.ts';
import type { Keys } from '../secrets/host-secret.ts';
import { keys as accessKeys, served } from '../served.kit.ts';
import { KEEPALIVE_MS } from '../streams/event-streams.ts';
import { type Caller, type Scope, scopes } from './auth.ts';
import { EndedSessions } from './ended-sessions.ts';
import { SESSION_LIFE_MS, Sessions } from './sessions.ts';

const keys: Keys = [randomBytes(32)];

const caller = (credential: string, expiresAt?: number): Caller => ({
  tenant: 't',
  principal: undefined,
  scopes: new Set(['runs:read']),
  toolScopes: [],
  audience: 'client',
  credential,
  expiresAt,
});

async function clocked(secure = false, given?: Store, held: ReadonlySet<Scope> | null = new Set(scopes)) {
  const store = given ?? (await emptyStore());
  const clock = { at: 1_000_000_000_000 };
  const now = () => clock.at;
  const ended = new EndedSessions(store.expiring, now);
  return { clock, sessions: new Sessions({ secure, now, keys, ended, scopesOf: () => held }) };
}

const textOf = (cookie: string): string => /=([^;]*);/.exec(cookie)?.[1] ?? '';

test('a session ends after its life, and no later than the credential that opened it', async () => {
  const { clock, sessions } = await clocked();
  const long = textOf(sessions.open(caller('key:a')).cookie);
  const short = sessions.open(caller('token:b', clock.at + 60_500));
  expect(short.cookie).toContain('Max-Age=60;');
  clock.at += 60_500;
  expect(await sessions.find(textOf(short.cookie))).toBe('over');
  expect(await sessions.find(long)).toMatchObject({ credential: 'key:a' });
  clock.at += SESSION_LIFE_MS;
  expect(await sessions.find(long)).toBe('over');
});

test('opening many sessions ends the oldest of the same principal, never those of another', async () => {
  const { sessions } = await clocked();
  const other = textOf(sessions.open(caller('key:other')).cookie);
  const texts = Array.from({ length: 65 }, () => textOf(sessions.open(caller('key:a')).cookie));
  expect(await sessions.find(texts[0] ?? '')).toBe('over');
  expect(await sessions.find(texts[1] ?? '')).toMatchObject({ credential: 'key:a' });
  expect(await sessions.find(other)).toMatchObject({ credential: 'key:other' });
});

test('all principals of a tenant share a cap', async () => {
  const { sessions } = await clocked();
  const texts = Array.from({ length: 1_001 }, (_, i) => textOf(sessions.open(caller(`token:${i}`)).cookie));
  expect(await sessions.find(texts[0] ?? '')).toBe('over');
  expect(await sessions.find(texts[1] ?? '')).toMatchObject({ tenant: 't' });
});

test('a session survives a restart, within the same caps, and an ended one stays ended', async () => {
  const store = await emptyStore();
  const { sessions } = await clocked(false, store);
  const texts = Array.from({ length: 64 }, () => textOf(sessions.open(caller('key:a')).cookie));
  await sessions.end(texts[63] ?? '');
  const { sessions: later, clock } = await clocked(false, store);
  clock.at += 1_000;
  expect(await later.find(texts[63] ?? '')).toBe('over');
  for (const text of texts.slice(0, 63)) expect(await later.find(text)).toMatchObject({ credential: 'key:a' });
  later.open(caller('key:a'));
  later.open(caller('key:a'));
  expect([await later.find(texts[0] ?? ''), await later.find(texts[1] ?? '')]).toMatchObject(['over', { tenant: 't' }]);
});

test('a session has no scope that its key has lost, and ends when its key is gone', async () => {
  const { sessions } = await clocked();
  const text = textOf(sessions.open(caller('key:a')).cookie);
  const { sessions: less } = await clocked(false, undefined, new Set());
  expect(await less.find(text)).toMatchObject({ scopes: new Set() });
  const { sessions: gone } = await clocked(false, undefined, null);
  expect(await gone.find(text)).toBe('over');
});

test('no change of a cookie passes', async () => {
  const { sessions } = await clocked();
  const text = textOf(sessions.open(caller('key:a')).cookie);
  for (let i = 0; i < text.length; i += 1) {
    const changed = `${text.slice(0, i)}${text[i] === 'A' ? 'B' : 'A'}${text.slice(i + 1)}`;
    expect(await sessions.find(changed)).toBeNull();
  }
});

test('the cookie is hidden from scripts and other sites, and bound to https and the host where there is https', async () => {
  const plain = (await clocked()).sessions.open(caller('key:a')).cookie;
  expect(plain).toMatch(/^cairn_session=[\w-]+\.[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/);
  const secure = (await clocked(true)).sessions.open(caller('key:a')).cookie;
  expect(secure).toMatch(
    /^__Host-cairn_session=[\w-]+\.[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure$/,
  );
});

const made = (letter: string): string => `${letter}.${letter.repeat(43)}`;

test.each([
  [`cairn_session=${made('a')}`, made('a'), null],
  [`theme=dark; cairn_session=${made('b')}; x=1`, made('b'), null],
  [`__Host-cairn_session=${made('c')}`, null, made('c')],
  [`cairn_session=${made('d')}; __Host-cairn_session=${made('e')}`, made('d'), made('e')],
  [`not_cairn_session=${made('a')}`, null, null],
  ['cairn_session=short', null, null],
  [`cairn_session=${made('a')}a`, null, null],
  ['', null, null],
])('reads the session out of %j, under the name of its kind of host only', async (header, plain, secure) => {
  const [http, https] = [await clocked(), await clocked(true)];
  expect([http.sessions.idIn(header), https.sessions.idIn(header)]).toEqual([plain, secure]);
});

/** A host, a waiting run of alice, and her session's cookie. */
async function withSession(options: Parameters<typeof served>[0] = {}) {
  const host = await served(options);
  await host.engine.register('t', approval);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const opened = await host.ask('POST', '/v1/host/cairn/session');
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { host, runId, opened, cookie };
}

test('a session reads what its key reads, streams included', async () => {
  const { host, runId, opened, cookie } = await withSession();
  expect(opened.status).toBe(200);
  expect(opened.headers.get('cache-control')).toBe('no-store');
  expect(Date.parse(String(opened.body.expiresAt))).toBeGreaterThan(Date.now());
  const read = await host.ask('GET', `/v1/runs/${runId}`, { key: null, headers: { cookie } });
  expect([read.status, read.body.runId]).toEqual([200, runId]);
  const leave = new AbortController();
  const stream = await fetch(`${host.url}/v1/runs/${runId}/events`, {
    headers: { cookie, accept: 'text/event-stream' },
    signal: leave.signal,
  });
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  leave.abort();
});

test('a stream of a session ends when the session does', async () => {
  const clock = { at: Date.now() };
  const { host, runId, cookie } = await withSession({ now: () => clock.at });
  const headers = { cookie, accept: 'text/event-stream' };
  const stream = await fetch(`${host.url}/v1/runs/${runId}/events`, { headers });
  expect(stream.status).toBe(200);
  const frames = present(stream.body).pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; !text.includes('event: run.started'); ) text += present((await frames.read()).value);
  clock.at += SESSION_LIFE_MS;
  host.timers.pass(KEEPALIVE_MS);
  // Reads to the end, which a stream of a waiting run has only this way.
  for (let isDone = false; !isDone; ) isDone = (await frames.read()).done;
});

test('a change with only a cookie is refused on every route that changes something, and nothing changes', async () => {
  const { host, runId, cookie } = await withSession();
  const changes = host.server.routes.filter(({ method, scope }) => method !== 'GET' && scope !== null);
  expect(changes.length).toBeGreaterThan(4);
  for (const { method, path } of changes) {
    const target = path.replace('{runId}', runId).replaceAll(/\{\w+\}/g, 'n0');
    const reply = await host.ask(method, target, { key: null, raw: '{}', headers: { cookie } });
    expect([method, path, reply.status, reply.body.error]).toEqual([method, path, 401, 'unauthenticated']);
  }
  expect((await host.engine.snapshot('t', runId)).status).toBe('waiting-approval');
});

test('a session holds those scopes of its key that read what pages show, and no more', async () => {
  const host = await served();
  const whole = await host.ask('POST', '/v1/host/cairn/session', { key: accessKeys.auditor });
  const auditor = whole.headers.get('set-cookie')?.split(';')[0] ?? '';
  const read = host.server.routes.filter(
    ({ method, scope, path }) => method === 'GET' && scope !== null && !path.includes('{'),
  );
  const open = new Set<string | null>(['runs:read', 'manifest:read', 'audit:read']);
  for (const { path, scope, doc } of read) {
    const { status } = await host.ask('GET', path, { key: null, headers: { cookie: auditor } });
    // It has a scope that a session holds, and names no call to go on with.
    const allowed = doc.id === 'resumeMcp' ? 405 : 200;
    expect([path, status]).toEqual([path, open.has(scope) ? allowed : 403]);
  }
  const refused = await host.ask('POST', '/v1/host/cairn/session', { key: 'key-with-only-runs:create' });
  expect(refused).toMatchObject({ status: 403, body: { details: { scopeRequired: 'runs:read' } } });
  const { headers } = await host.ask('POST', '/v1/host/cairn/session', { key: 'key-with-only-runs:read' });
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await host.ask('GET', '/v1/workflows', { key: null, headers: { cookie } })).status).toBe(403);
});

test('ending a session needs only its cookie, ends that one alone, and may be done twice', async () => {
  const { host, runId, cookie } = await withSession();
  const second = await host.ask('POST', '/v1/host/cairn/session');
  const kept = second.headers.get('set-cookie')?.split(';')[0] ?? '';
  for (const sent of [cookie, cookie, 'cairn_session=nonsense']) {
    const ended = await host.ask('DELETE', '/v1/host/cairn/session', { key: null, headers: { cookie: sent } });
    expect([ended.status, ended.text]).toEqual([204, '']);
    expect(ended.headers.get('set-cookie')).toContain('cairn_session=; Path=/; Max-Age=0');
  }
  const read = (sent: string) => host.ask('GET', `/v1/runs/${runId}`, { key: null, headers: { cookie: sent } });
  expect([(await read(cookie)).status, (await read(kept)).status]).toEqual([401, 200]);
});

test('a made-up session, a session with a wrong key beside it, and a session that is over are refused', async () => {
  const clock = { at: Date.now() };
  const { host, runId, cookie } = await withSession({ now: () => clock.at });
  const status = async (headers: Record<string, string>, key: string | null = null) =>
    (await host.ask('GET', `/v1/runs/${runId}`, { key, headers })).status;
  expect(await status({ cookie: `cairn_session=${made('x')}` })).toBe(401);
  expect(await status({ cookie }, 'some-other-key-here')).toBe(401);
  expect(await status({ cookie }, accessKeys.alice)).toBe(200);
  clock.at += SESSION_LIFE_MS;
  expect(await status({ cookie })).toBe(401);
});

test('a page of another origin cannot use the cookie, whatever kind of request it makes', async () => {
  const { host, runId, cookie } = await withSession({ corsOrigins: ['https://app.example.org'] });
  const status = async (headers: Record<string, string>) =>
    (await host.ask('GET', `/v1/runs/${runId}`, { key: null, headers: { cookie, ...headers } })).status;
  expect(await status({ origin: 'https://evil.example.com' })).toBe(403);
  expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await status({ 'sec-fetch-site': 'same-site' })).toBe(403);
  expect(await status({ 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(await status({ 'sec-fetch-site': 'none' })).toBe(200);
  expect(await status({ origin: 'https://app.example.org', 'sec-fetch-site': 'cross-site' })).toBe(200);
});

test('a link of another page to an open route works, whatever cookies come along', async () => {
  const { host, cookie } = await withSession();
  const headers = { cookie: `theme=dark; ${cookie}`, 'sec-fetch-site': 'cross-site' };
  expect((await host.ask('GET', '/v1/docs', { key: null, headers })).status).toBe(200);
});
