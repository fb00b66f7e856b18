import { SESSION_TOKEN_HEADER } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { keys, type Served, served } from '../served.kit.ts';
import { LINK_LIFE_MS } from './sign-in-links.ts';

const LINKS = '/v1/host/cairn/sign-in-links';

async function codeOf(host: Served, key: string = keys.alice): Promise<string> {
  const { body } = await host.ask('POST', LINKS, { key });
  return String(body.url).split('#')[1] ?? '';
}

const redeem = (host: Served, code: string, headers: Record<string, string> = {}) =>
  host.ask('POST', `${LINKS}/${code}`, { key: null, headers: { origin: host.url, ...headers } });

test('a link signs in as the person who made it, once', async () => {
  const host = await served();
  const { status, headers, body } = await host.ask('POST', LINKS);
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
  expect(body.url).toMatch(new RegExp(`^${host.url}/sign-in#[\\w-]{43}$`));
  const code = String(body.url).split('#')[1] ?? '';
  const opened = await redeem(host, code);
  expect(opened.body).toMatchObject({ tenant: 't', principal: 'alice' });
  expect(opened.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/);
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await host.ask('GET', '/v1/runs', { key: null, headers: { cookie } })).status).toBe(200);
  const again = await redeem(host, code);
  expect(again).toMatchObject({ status: 401, body: { error: 'unauthenticated' } });
  expect(again.headers.get('set-cookie')).toBeNull();
});

test('two browsers that send one code at once get one session', async () => {
  const host = await served();
  const code = await codeOf(host);
  const replies = await Promise.all([redeem(host, code), redeem(host, code), redeem(host, code)]);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
});

test('a link ends after its time, with the key that made it, and with its host', async () => {
  const clock = { at: Date.now() };
  const host = await served({ now: () => clock.at });
  const code = await codeOf(host);
  const other = await served();
  expect((await redeem(other, code)).status).toBe(401);
  clock.at += LINK_LIFE_MS;
  expect((await redeem(host, code)).status).toBe(401);
});

test('a page of another site cannot sign a browser in, and the code stays good', async () => {
  const host = await served({ corsOrigins: ['https://app.example.org'] });
  const code = await codeOf(host);
  expect((await redeem(host, code, { origin: 'https://evil.example.com' })).status).toBe(403);
  expect((await redeem(host, code)).status).toBe(200);
});

test('guessed codes count as failed attempts of their address, which then learns nothing of a right one', async () => {
  const host = await served({ limits: { maxFailedAuthPerMinute: 2 } });
  const code = await codeOf(host);
  const statuses = [];
  for (const guess of ['a', 'b', code]) statuses.push((await redeem(host, guess)).status);
  expect(statuses).toEqual([401, 401, 429]);
});

test('neither a session nor a stranger makes links for somebody else', async () => {
  const host = await served();
  const opened = await redeem(host, await codeOf(host));
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const headers = { cookie, [SESSION_TOKEN_HEADER]: String(opened.body.token), origin: host.url };
  expect((await host.ask('POST', LINKS, { key: null, headers })).status).toBe(403);
  expect((await host.ask('POST', LINKS, { key: null, headers: { cookie } })).status).toBe(401);
  expect((await redeem(host, await codeOf(host, keys.stranger))).body.tenant).toBe('other');
});

test('a credential has eight open links at most; the oldest goes, and those of others stay', async () => {
  const host = await served();
  const others = await codeOf(host, keys.stranger);
  const codes = [];
  for (let made = 0; made < 9; made += 1) codes.push(await codeOf(host));
  expect((await redeem(host, codes[0] ?? '')).status).toBe(401);
  expect((await redeem(host, codes[1] ?? '')).status).toBe(200);
  expect((await redeem(host, others)).status).toBe(200);
});
