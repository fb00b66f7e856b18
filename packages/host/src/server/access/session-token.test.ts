/** What a page can do with a session and its token, and what an attacker with less than both cannot. */
import { randomBytes } from 'node:crypto';
import { SESSION_TOKEN_HEADER } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Ask } from '../ask.kit.ts';
import { approval } from '../sample-workflows.kit.ts';
import { keys, keyWith, type Served, type ServedOptions, served } from '../served.kit.ts';
import { SESSION_LIFE_MS, SESSION_MAX_MS } from './sessions.ts';

const SESSION = '/v1/host/cairn/session';

interface Page {
  readonly cookie: string;
  readonly token: string;
}

async function signedIn(host: Served, key: string = keys.alice): Promise<Page> {
  const { headers, body } = await host.ask('POST', SESSION, { key });
  return { cookie: headers.get('set-cookie')?.split(';')[0] ?? '', token: String(body.token) };
}

/** A request as the page of the host sends it. */
const asPage = (host: Served, { cookie, token }: Page, headers: Record<string, string> = {}): Ask => ({
  key: null,
  headers: { cookie, [SESSION_TOKEN_HEADER]: token, origin: host.url, 'sec-fetch-site': 'same-origin', ...headers },
});

async function withRun(options: ServedOptions = {}) {
  const host = await served(options);
  await host.engine.register('t', approval);
  const start = () => host.engine.start({ tenant: 't', workflowId: 'approval', inputs: {}, options: {} });
  const { runId } = await start();
  const cancel = (ask: Ask) => host.ask('POST', `/v1/runs/${runId}/cancel`, ask);
  const statusOf = async () => (await host.engine.snapshot('t', runId)).status;
  return { host, runId, cancel, statusOf };
}

test('a page with a session and its token does what its key may, as the person of that key', async () => {
  const { host, runId } = await withRun();
  const page = await signedIn(host);
  const answered = await host.ask('POST', `/v1/runs/${runId}/interrupts/n0`, {
    ...asPage(host, page),
    body: { resumeValue: { action: 'accept' } },
  });
  expect([answered.status, answered.text]).toEqual([200, expect.stringContaining(runId)]);
  const events = await host.ask('GET', `/v1/runs/${runId}/events?streamMode=debug`, { key: keys.auditor });
  expect(events.text).toContain('"alice"');
});

test('the token gives no scope that the key does not have', async () => {
  const { host, cancel, statusOf } = await withRun();
  const page = await signedIn(host, keyWith('runs:read'));
  const refused = await cancel(asPage(host, page));
  expect(refused).toMatchObject({ status: 403, body: { details: { scopeRequired: 'runs:cancel' } } });
  expect(await statusOf()).toBe('waiting-approval');
});

test('a page may read with the token what the cookie alone does not show', async () => {
  const host = await served();
  const page = await signedIn(host, keys.auditor);
  const read = (headers: Record<string, string>) => host.ask('GET', '/metrics', { key: null, headers });
  expect((await read({ cookie: page.cookie })).status).toBe(403);
  expect((await read({ cookie: page.cookie, [SESSION_TOKEN_HEADER]: page.token })).status).toBe(200);
});

test.each([
  ['a form of another site, which sends the cookie alone', { [SESSION_TOKEN_HEADER]: undefined }, 401],
  ['a page of another site that knows the token', { origin: 'https://evil.example.com' }, 403],
  ['a sandboxed frame', { origin: 'null' }, 403],
  ['a listed origin, which may read and no more', { origin: 'https://app.example.org' }, 403],
  ['a page of the same site, but of another origin', { origin: undefined, 'sec-fetch-site': 'same-site' }, 403],
  ['a program with a stolen cookie and token', { origin: undefined, 'sec-fetch-site': undefined }, 403],
  ['a made-up token', { [SESSION_TOKEN_HEADER]: randomBytes(32).toString('base64url') }, 401],
  ['an empty token', { [SESSION_TOKEN_HEADER]: '' }, 401],
])('%s changes nothing', async (_who, changes, status) => {
  const { host, cancel, statusOf } = await withRun({ corsOrigins: ['https://app.example.org'] });
  const { headers } = asPage(host, await signedIn(host));
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...headers, ...changes })) if (value !== undefined) sent[name] = value;
  const refused = await cancel({ key: null, headers: sent });
  expect([refused.status, await statusOf()]).toEqual([status, 'waiting-approval']);
});

test('the token of one session does not fit another, also of the same person', async () => {
  const { host, cancel, statusOf } = await withRun();
  const [one, other, stranger] = [await signedIn(host), await signedIn(host), await signedIn(host, keys.stranger)];
  for (const token of [other.token, stranger.token]) {
    expect((await cancel(asPage(host, { cookie: one.cookie, token }))).status).toBe(401);
  }
  expect(await statusOf()).toBe('waiting-approval');
  expect((await cancel(asPage(host, one))).status).toBe(200);
});

test('wrong tokens count as failed attempts of their address', async () => {
  const host = await served({ limits: { maxFailedAuthPerMinute: 2 } });
  const { cookie } = await signedIn(host);
  const guess = (token: string) =>
    host.ask('GET', '/v1/runs', { key: null, headers: { cookie, [SESSION_TOKEN_HEADER]: token } });
  const statuses = [];
  for (const token of ['a', 'b', 'c']) statuses.push((await guess(token)).status);
  expect(statuses).toEqual([401, 401, 429]);
});

test('a page learns its token after a reload; pages of a listed origin and programs do not', async () => {
  const host = await served({ corsOrigins: ['https://app.example.org'] });
  const { cookie, token } = await signedIn(host);
  const get = (headers: Record<string, string>, key: string | null = null) =>
    host.ask('GET', SESSION, { key, headers });
  const own = await get({ cookie, 'sec-fetch-site': 'same-origin' });
  expect(own.body).toMatchObject({
    tenant: 't',
    principal: 'alice',
    token,
    scopes: expect.arrayContaining(['runs:cancel']),
  });
  expect(own.headers.get('cache-control')).toBe('no-store');
  expect((await get({ cookie, origin: 'https://app.example.org' })).body).not.toHaveProperty('token');
  expect((await get({ cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await get({}, keys.alice)).body).not.toHaveProperty('token');
});

test('a session that is renewed lasts, but not beyond its maximum, and its token stays', async () => {
  const clock = { at: Date.now() };
  const host = await served({ now: () => clock.at });
  let page = await signedIn(host);
  const begun = clock.at;
  let renewed = 0;
  for (;;) {
    clock.at += SESSION_LIFE_MS - 60_000;
    const { status, headers, body } = await host.ask('POST', SESSION, asPage(host, page));
    if (status !== 200) break;
    expect(body.token).toBe(page.token);
    page = { ...page, cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
    renewed += 1;
  }
  expect(renewed).toBeGreaterThan(10);
  expect(clock.at).toBeGreaterThan(begun + SESSION_MAX_MS);
});

test('signing out ends the session in all its renewals', async () => {
  const host = await served();
  const first = await signedIn(host);
  const { headers } = await host.ask('POST', SESSION, asPage(host, first));
  const renewed = headers.get('set-cookie')?.split(';')[0] ?? '';
  await host.ask('DELETE', SESSION, { key: null, headers: { cookie: renewed } });
  for (const cookie of [first.cookie, renewed]) {
    expect((await host.ask('GET', '/v1/runs', { key: null, headers: { cookie } })).status).toBe(401);
    expect((await host.ask('POST', SESSION, asPage(host, { ...first, cookie }))).status).toBe(401);
  }
});
