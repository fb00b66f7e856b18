import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { jwtSchema } from '../config/access.ts';
import { noop } from '../sample-workflows.kit.ts';
import { type Served, served } from '../served.kit.ts';

const AT = 1_800_000_000;

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

const pairOf = (alg: string): Promise<Pair> => generateKeyPair(alg, { extractable: true });

/** An issuer with a JWKS address of its own; what it answers is the test's to say. */
async function issuer() {
  const state = {
    keys: [] as JWK[],
    fetches: 0,
    answer: null as ((response: ServerResponse) => void) | null,
  };
  const server = createServer((_request, response) => {
    state.fetches += 1;
    if (state.answer !== null) return state.answer(response);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: state.keys }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const publish = async (kid: string, alg: string, pair: Pair) => {
    state.keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' });
  };
  return { state, publish, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys` };
}

const good = { tenant: 't', sub: 'ann', scope: 'runs:read runs:create openid' };

function signed(pair: Pair, claims: JWTPayload = good, header: Record<string, string> = {}): Promise<string> {
  return new SignJWT({ iss: 'https://issuer.example', aud: 'cairn', exp: AT + 600, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
    .sign(pair.privateKey);
}

async function withIssuer(overrides: Record<string, unknown> = {}) {
  const clock = { at: AT * 1000 };
  const { state, publish, url } = await issuer();
  const pair = await pairOf('ES256');
  await publish('k1', 'ES256', pair);
  const jwt = jwtSchema.parse({ issuer: 'https://issuer.example', audience: 'cairn', jwksUrl: url, ...overrides });
  const host = await served({ jwt, now: () => clock.at });
  return { host, pair, state, publish, clock };
}

const ask = (host: Served, token: string, path = '/v1/runs') => host.ask('GET', path, { key: token });

test('a token of the issuer is a caller: its tenant, its principal, and those of its scopes that are ours', async () => {
  const { host, pair } = await withIssuer();
  await host.engine.register('t', noop);
  const token = await signed(pair);
  const created = await host.ask('POST', '/v1/runs', { key: token, body: { workflowId: 'noop' } });
  expect(created.status).toBe(201);
  const read = await ask(host, token, `/v1/runs/${created.body.runId}`);
  expect(read.body.owner).toEqual({ tenant: 't', principal: 'ann' });
  expect((await ask(host, token, '/v1/workflows')).status).toBe(403);
  const stranger = await signed(pair, { ...good, tenant: 'other' });
  expect((await ask(host, stranger, `/v1/runs/${created.body.runId}`)).status).toBe(404);
});

test('claims have the names the operator gave them, and scopes may be a list', async () => {
  const { host, pair } = await withIssuer({ claims: { tenant: 'org', principal: 'email', scopes: 'permissions' } });
  const token = await signed(pair, { org: 't', email: 'ann', permissions: ['runs:read', 7] });
  expect((await ask(host, token)).status).toBe(200);
  expect(await ask(host, await signed(pair))).toMatchObject({
    status: 401,
    body: { message: expect.stringContaining('org') },
  });
});

test('a token without scopes may do nothing, and one without a tenant is nobody', async () => {
  const { host, pair } = await withIssuer();
  expect((await ask(host, await signed(pair, { tenant: 't' }))).status).toBe(403);
  for (const tenant of [undefined, '', 7, 'x'.repeat(129), ['t']]) {
    const reply = await ask(host, await signed(pair, { ...good, tenant }));
    expect([tenant, reply.status, reply.body.error]).toEqual([tenant, 401, 'unauthenticated']);
  }
  expect((await ask(host, await signed(pair, { ...good, sub: 'x'.repeat(129) }))).status).toBe(401);
});

test('an expired token is told apart, with the tolerance of the configuration for clocks that differ', async () => {
  const { host, pair, clock } = await withIssuer({ clockToleranceMs: 10_000 });
  const token = await signed(pair);
  clock.at = (AT + 609) * 1000;
  expect((await ask(host, token)).status).toBe(200);
  clock.at = (AT + 611) * 1000;
  expect(await ask(host, token)).toMatchObject({ status: 401, body: { error: 'key_expired' } });
});

test.each<[string, Record<string, unknown>]>([
  ['another issuer', { iss: 'https://evil.example' }],
  ['another audience', { aud: 'somebody-else' }],
  ['no expiry', { exp: undefined }],
  ['a time to come', { nbf: AT + 3600 }],
  ['a tenant that would steer a terminal', { tenant: 'a\u001b[2J' }],
  ['a tenant that no disk can hold', { tenant: 'half \ud800' }],
  ['a principal of two lines', { sub: 'ann\nadmin' }],
])('refuses a token with %s', async (_name, claims) => {
  const { host, pair } = await withIssuer();
  const reply = await ask(host, await signed(pair, { ...good, ...claims }));
  expect([reply.status, reply.body.error]).toEqual([401, 'unauthenticated']);
  expect(reply.headers.get('www-authenticate')).toBe('Bearer');
});

test('refuses a token without a signature, signed with the public key as a secret, or by another key', async () => {
  const { host, pair } = await withIssuer();
  const claims = { iss: 'https://issuer.example', aud: 'cairn', exp: AT + 600, ...good };
  const secret = new TextEncoder().encode(await exportSPKI(pair.publicKey));
  const forged = [
    new UnsecuredJWT(claims).encode(),
    `${new UnsecuredJWT(claims).encode()}AAAA`,
    await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(secret),
    await signed(await pairOf('ES256')),
    `${(await signed(pair)).slice(0, -8)}AAAAAAAA`,
    'a.b.c',
    `${'a'.repeat(4000)}.${'b'.repeat(4000)}.c`,
  ];
  for (const token of forged) {
    const reply = await ask(host, token);
    expect([reply.status, reply.body.error]).toEqual([401, 'unauthenticated']);
    expect(reply.text).not.toContain(token.split('.')[1]);
  }
});

test('an algorithm that the operator did not list does not count, though the issuer has such a key', async () => {
  const { host, publish } = await withIssuer({ algorithms: ['ES256'] });
  const rsa = await pairOf('RS256');
  await publish('k2', 'RS256', rsa);
  const reply = await ask(host, await signed(rsa, good, { alg: 'RS256', kid: 'k2' }));
  expect(reply).toMatchObject({ status: 401, body: { message: expect.stringContaining('kind') } });
});

test('a key the issuer turned to is fetched, but a made-up key id does not make the host hammer the issuer', async () => {
  const { host, pair, state, publish, clock } = await withIssuer();
  expect((await ask(host, await signed(pair))).status).toBe(200);
  expect(state.fetches).toBe(1);
  const next = await pairOf('ES256');
  state.keys.length = 0;
  await publish('k2', 'ES256', next);
  const token = await signed(next, good, { kid: 'k2' });
  expect((await ask(host, token)).status).toBe(401);
  clock.at += 31_000;
  expect((await ask(host, token)).status).toBe(200);
  expect((await ask(host, await signed(pair))).status).toBe(401);
  expect(state.fetches).toBe(2);
  for (let i = 0; i < 10; i += 1) await ask(host, await signed(pair, good, { kid: `made-up-${i}` }));
  expect(state.fetches).toBe(2);
});

test('many requests that need the keys at once share one fetch', async () => {
  const { host, pair, state } = await withIssuer();
  const token = await signed(pair);
  const replies = await Promise.all(Array.from({ length: 20 }, () => ask(host, token)));
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(state.fetches).toBe(1);
});

const refuse = (response: ServerResponse) => void response.writeHead(500).end();

test('while the issuer is down its last keys count for a day; then, and before the first, nobody passes', async () => {
  const { host, pair, state, clock } = await withIssuer();
  const token = await signed(pair, { ...good, exp: AT + 1_000_000 });
  state.answer = refuse;
  const down = await ask(host, token);
  expect(down).toMatchObject({
    status: 503,
    body: { error: 'service_unavailable', details: { reason: 'jwks_unavailable' } },
  });
  expect(down.headers.get('retry-after')).toBe('5');
  state.answer = null;
  clock.at += 31_000;
  expect((await ask(host, token)).status).toBe(200);
  state.answer = refuse;
  clock.at += 23 * 3_600_000;
  expect((await ask(host, token)).status).toBe(200);
  clock.at += 2 * 3_600_000;
  expect((await ask(host, token)).status).toBe(503);
  const told = host.reports.filter(({ event }) => event.startsWith('jwks.')).map(({ level }) => level);
  expect(told).toEqual(['warn', 'info', 'warn']);
});

test.each([
  ['is not JSON', (response: ServerResponse) => void response.end('<html>')],
  ['is no key set', (response: ServerResponse) => void response.end('{"keys":7}')],
  ['redirects', (response: ServerResponse) => void response.writeHead(302, { location: '/elsewhere' }).end()],
  ['has no end', (response: ServerResponse) => void response.end(`{"keys":[],"x":"${'x'.repeat(300_000)}"}`)],
  ['breaks off', (response: ServerResponse) => void response.destroy()],
])('an answer of the issuer that %s opens nothing, and keys of the configuration still pass', async (_name, answer) => {
  const { host, pair, state } = await withIssuer();
  state.answer = answer;
  expect((await ask(host, await signed(pair))).status).toBe(503);
  expect((await host.ask('GET', '/v1/runs')).status).toBe(200);
  expect((await host.ask('GET', '/v1/runs', { key: 'some-other-key-here' })).status).toBe(401);
});

test('a set with several keys needs a token that names its key', async () => {
  const { host, pair, publish } = await withIssuer();
  await publish('k2', 'ES256', await pairOf('ES256'));
  const unnamed = await new SignJWT({ iss: 'https://issuer.example', aud: 'cairn', exp: AT + 600, ...good })
    .setProtectedHeader({ alg: 'ES256' })
    .sign(pair.privateKey);
  expect(await ask(host, unnamed)).toMatchObject({ status: 401, body: { message: expect.stringContaining('kid') } });
});

test('a session opened with a token ends with it', async () => {
  const { host, pair, clock } = await withIssuer();
  const opened = await host.ask('POST', '/v1/host/cairn/session', { key: await signed(pair) });
  expect(opened.body.expiresAt).toBe(new Date((AT + 600) * 1000).toISOString());
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await host.ask('GET', '/v1/runs', { key: null, headers: { cookie } })).status).toBe(200);
  clock.at = (AT + 601) * 1000;
  expect((await host.ask('GET', '/v1/runs', { key: null, headers: { cookie } })).status).toBe(401);
});

test('wrong tokens count as wrong keys of their address; tokens that cannot be checked do not', async () => {
  const { host, pair, state } = await withIssuer();
  state.answer = refuse;
  for (let i = 0; i < 5; i += 1) expect((await ask(host, await signed(pair))).status).toBe(503);
  expect((await ask(host, 'a.b.c')).status).toBe(401);
});
