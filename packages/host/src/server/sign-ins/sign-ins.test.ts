/** Users sign in for the tools that act for them: over HTTP, with a real provider, across restarts. */
import { type JWK, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encryptedTo } from '../../../test/kit/encrypted-to.ts';
import { type Face, Forge, keys } from './forge.kit.ts';

let forge: Forge;
beforeAll(async () => {
  forge = await Forge.open();
});
afterAll(() => forge.close());

const isEnd = ({ kind }: Face) => kind === 'task-complete';
const ofKind = (faces: readonly Face[], kind: string) => faces.filter((face) => face.kind === kind);
const authPath = (contextId: string, authId: unknown) => `/api/contexts/${contextId}/auths/${authId}`;

async function forget(key: string = keys.ann): Promise<void> {
  const { body } = await forge.ask('GET', '/v1/host/cairn/credentials', { key });
  for (const { credentialRef } of body.credentials as { credentialRef: string }[]) {
    expect((await forge.ask('DELETE', `/v1/host/cairn/credentials/${credentialRef}`, { key })).status).toBe(204);
  }
}

describe('an OAuth sign-in', () => {
  it('goes through the provider once, and its credential is used and renewed without asking again', async () => {
    const { contextId, taskId } = await forge.send('host:forge');
    const asked = await forge.required(contextId);
    expect(asked).toMatchObject({
      authType: 'oauth2',
      provider: 'forge',
      scopes: ['read:user'],
      prompt: 'Sign in to the forge.',
    });
    expect(asked.authUrl).toBe(`${forge.url}${authPath(contextId, asked.authId)}/authorize`);
    const { back } = await forge.browse(String(asked.authUrl));
    expect(back).toMatchObject({ status: 200, text: expect.stringContaining('signed in to forge') });
    const faces = await forge.until(contextId, isEnd);
    const kinds = faces.map(({ kind, status }) => String(status ?? kind));
    expect(kinds.indexOf('auth-required')).toBeLessThan(kinds.indexOf('waiting-auth'));
    expect(kinds.indexOf('waiting-auth')).toBeLessThan(kinds.indexOf('auth-completed'));
    expect(ofKind(faces, 'tool-start')).toHaveLength(1);
    expect(ofKind(faces, 'tool-complete')[0]).toMatchObject({ success: true, result: { status: 200 } });
    expect(ofKind(faces, 'auth-completed')[0]).toMatchObject({
      authId: asked.authId,
      userId: 'ann',
      metadata: { credentialRef: expect.stringMatching(/^cred_/), expiresAt: expect.any(String) },
    });
    const run = await forge.ask('GET', `/v1/runs/${taskId}/events`);
    expect(run.text).toContain('"connector.authorized"');

    const again = await forge.send('host:forge');
    expect(ofKind(await forge.until(again.contextId, isEnd), 'auth-required')).toEqual([]);
    const { body } = await forge.ask('GET', '/v1/host/cairn/credentials');
    expect(body.credentials).toEqual([
      {
        credentialRef: expect.any(String),
        provider: 'forge',
        scopes: ['read:user'],
        storedAt: expect.any(String),
        expiresAt: expect.any(String),
      },
    ]);
  });

  it('renews a token that ends soon, and asks again when the provider takes no refresh token any more', async () => {
    await forget();
    forge.oauth.lasts = 0.001;
    const { contextId } = await forge.send('host:forge');
    await forge.browse(String((await forge.required(contextId)).authUrl));
    await forge.until(contextId, isEnd);
    const refreshes = () => forge.oauth.requests.filter((form) => form.get('grant_type') === 'refresh_token').length;
    const before = refreshes();
    const second = await forge.send('host:forge');
    const faces = await forge.until(second.contextId, isEnd);
    expect([ofKind(faces, 'auth-required'), refreshes() > before]).toEqual([[], true]);
    expect(ofKind(faces, 'tool-complete')[0]).toMatchObject({ result: { status: 200 } });
    forge.oauth.refreshes = false;
    const third = await forge.send('host:forge');
    const { authId } = await forge.required(third.contextId);
    await forge.ask('POST', authPath(third.contextId, authId), { body: { denied: true } });
    await forge.until(third.contextId, isEnd);
    Object.assign(forge.oauth, { lasts: 3600, refreshes: true });
  });

  it('keeps the credential of a new sign-in when the old refresh token is refused after it', async () => {
    await forget();
    forge.oauth.lasts = 0.001;
    const open = await forge.send('host:forge');
    const { authUrl } = await forge.required(open.contextId);
    const first = await forge.send('host:forge');
    await forge.browse(String((await forge.required(first.contextId)).authUrl));
    await forge.until(first.contextId, isEnd);
    Object.assign(forge.oauth, { lasts: 3600, refreshes: false, meanwhile: () => forge.browse(String(authUrl)) });
    const late = await forge.send('host:forge');
    const faces = await forge.until(late.contextId, (face) => isEnd(face) || face.kind === 'auth-required');
    expect(ofKind(faces, 'tool-complete')[0]).toMatchObject({ success: true, result: { status: 200 } });
    expect((await forge.ask('GET', '/v1/host/cairn/credentials')).body.credentials).toHaveLength(1);
    Object.assign(forge.oauth, { refreshes: true, meanwhile: null });
  });

  it('uses a token that ends soon while the service cannot renew it', async () => {
    await forget();
    forge.oauth.lasts = 50;
    const { contextId } = await forge.send('host:forge');
    forge.oauth.meanwhile = async () => {
      forge.oauth.isDown = true;
    };
    await forge.browse(String((await forge.required(contextId)).authUrl));
    const faces = await forge.until(contextId, isEnd);
    expect([forge.oauth.isDown, ofKind(faces, 'tool-complete')[0]]).toMatchObject([
      true,
      { success: true, result: { status: 200 } },
    ]);
    Object.assign(forge.oauth, { lasts: 3600, isDown: false, meanwhile: null });
  });

  it('is refused when the user refuses, and the tool is told so', async () => {
    await forget();
    forge.oauth.agrees = false;
    const { contextId } = await forge.send('host:forge');
    const { back } = await forge.browse(String((await forge.required(contextId)).authUrl));
    expect(back?.text).toContain('did not sign in');
    const faces = await forge.until(contextId, isEnd);
    expect(ofKind(faces, 'error')[0]).toMatchObject({ code: 'auth_denied', scope: 'auth' });
    expect(ofKind(faces, 'tool-complete')[0]).toMatchObject({ success: false, errorInfo: { code: 'auth_denied' } });
    forge.oauth.agrees = true;
  });

  it('takes a token from a service that writes null for everything else', async () => {
    await forget();
    forge.oauth.isBare = true;
    const { contextId } = await forge.send('host:forge');
    const { back } = await forge.browse(String((await forge.required(contextId)).authUrl));
    forge.oauth.isBare = false;
    expect(back?.status).toBe(200);
    await forge.until(contextId, isEnd);
    const { body } = await forge.ask('GET', '/v1/host/cairn/credentials');
    expect(body.credentials).toMatchObject([{ provider: 'forge', scopes: ['read:user'] }]);
  });

  it('stays open when the service fails or says nothing, because only the user can refuse', async () => {
    await forget();
    Object.assign(forge.oauth, { agrees: false, refusal: 'temporarily_unavailable' });
    const { contextId } = await forge.send('host:forge');
    const { authUrl } = await forge.required(contextId);
    const failed = await forge.browse(String(authUrl));
    expect(failed.back).toMatchObject({ status: 422, text: expect.stringContaining('temporarily_unavailable') });
    expect((await forge.callback(failed.callback, failed.cookie)).status).toBe(400);
    Object.assign(forge.oauth, { agrees: true, refusal: 'access_denied' });
    const { callback, cookie, back } = await forge.browse(String(authUrl), { emptied: true });
    expect(back?.status).toBe(400);
    expect((await forge.callback(callback, cookie)).status).toBe(200);
    const faces = await forge.until(contextId, isEnd);
    expect([ofKind(faces, 'auth-completed').length, ofKind(faces, 'error')]).toEqual([1, []]);
  });

  it('takes its state once, from the browser that began, and from no other user', async () => {
    await forget();
    const { contextId } = await forge.send('host:forge');
    const { authUrl, authId } = await forge.required(contextId);
    for (const [key, status] of [
      [keys.bob, 403],
      [keys.other, 404],
    ] as const) {
      expect((await forge.ask('GET', String(authUrl), { key })).status).toBe(status);
    }
    forge.oauth.isDown = true;
    const down = await forge.browse(String(authUrl));
    expect(down.begun.status).toBe(302);
    expect(down.back).toMatchObject({ status: 502, text: expect.stringContaining('http_network_error') });
    forge.oauth.isDown = false;
    const stolen = await forge.browse(String(authUrl), { withCookie: false });
    expect(stolen.back?.status).toBe(403);
    expect((await forge.callback(stolen.callback, stolen.cookie)).status).toBe(400);
    expect((await forge.callback(`${forge.url}/api/sign-ins/callback?state=x&code=y`, '')).status).toBe(400);
    const done = await forge.browse(String(authUrl));
    expect(done.back?.status).toBe(200);
    expect((await forge.callback(done.callback, done.cookie)).status).toBe(400);
    expect((await forge.ask('GET', String(authUrl))).body).toMatchObject({ error: 'interrupt_already_resolved' });
    expect((await forge.ask('GET', `${authPath(contextId, `${authId}x`)}/authorize`)).status).toBe(404);
    await forge.until(contextId, isEnd);
  });

  it('is never completed by another host, not even for its own run', async () => {
    const { contextId } = await forge.send('host:forge', keys.peer);
    const { authUrl, authId } = await forge.required(contextId, keys.peer);
    const refused = { status: 403, body: { error: 'forbidden', details: { hostId: 'hosts.example.org/beta' } } };
    expect(await forge.ask('GET', String(authUrl), { key: keys.peer })).toMatchObject(refused);
    const path = authPath(contextId, authId);
    expect(await forge.ask('POST', path, { key: keys.peer, body: { denied: true } })).toMatchObject(refused);
    const session = await forge.ask('POST', '/v1/host/cairn/session', { key: keys.peer });
    const cookie = String(session.headers.get('set-cookie')).split(';')[0] ?? '';
    const browser = await fetch(String(authUrl), { headers: { cookie }, redirect: 'manual' });
    expect(browser.status).toBe(403);
    expect(await browser.json()).toMatchObject(refused.body);
  });

  it('reaches the user through two levels of subtasks', async () => {
    await forget();
    const { body } = await forge.ask('POST', '/v1/runs', { body: { workflowId: 'outer' } });
    const contextId = String(body.contextId ?? (await forge.ask('GET', `/v1/runs/${body.runId}`)).body.contextId);
    const faces = await forge.until(contextId, ({ kind }) => kind === 'auth-required');
    const asked = faces.at(-1) as Face;
    expect(asked.taskId).not.toBe(body.runId);
    expect(asked.parentTaskId).not.toBe(body.runId);
    expect(
      (await forge.ask('POST', authPath(contextId, asked.authId), { key: keys.bob, body: { denied: true } })).status,
    ).toBe(403);
    expect((await forge.browse(String(asked.authUrl))).back?.status).toBe(200);
    await forge.until(contextId, (face) => isEnd(face) && face.taskId === body.runId);
  });

  it('survives a stop between the request and the way back, and leaves no secret in the data folder', async () => {
    await forget();
    const { contextId, taskId } = await forge.send('host:forge');
    const asked = await forge.required(contextId);
    await forge.stop();
    await forge.start();
    // The port is another one now, and with it the address of the host.
    const path = `${authPath(contextId, asked.authId)}/authorize`;
    expect((await forge.browse(`${forge.url}${path}`)).back?.status).toBe(200);
    await forge.until(contextId, isEnd);
    const replay = await forge.ask('POST', `/v1/runs/${taskId}:fork`, { body: { mode: 'replay', fromSeq: 0 } });
    expect(replay.status).toBe(201);
    const calls = forge.oauth.requests.length;
    const { body } = await forge.ask('GET', `/v1/runs/${replay.body.runId}`);
    const faces = await forge.until(String(body.contextId), isEnd);
    expect(ofKind(faces, 'tool-complete')[0]).toMatchObject({ success: true, result: { status: 200 } });
    expect(forge.oauth.requests.length).toBe(calls);
    await forge.stop();
    const bytes = await forge.bytes();
    expect(bytes).toContain('read:user');
    for (const secret of forge.oauth.secrets) expect(bytes).not.toContain(secret);
    await forge.start();
  });
});

describe('a key that the user types in', () => {
  const secret = 'ledger-key-of-ann-8c1f04';

  it('is taken once, encrypted, from the user who is asked, and nobody reads it later', async () => {
    const { contextId } = await forge.send('host:clerk');
    const asked = await forge.required(contextId);
    expect(asked).toMatchObject({
      authType: 'api-key',
      provider: 'ledger',
      infoUrl: 'https://ledger.example.org/keys',
    });
    const path = authPath(contextId, asked.authId);
    const credential = await encryptedTo(asked.encryptionKey, secret);
    const send = (body: object, key: string = keys.ann, where = path) =>
      forge.ask('POST', where, { key, body: body as never });
    expect((await send({ credential }, keys.bob)).body).toMatchObject({ error: 'forbidden' });
    expect((await send({ credential }, keys.other)).body).toMatchObject({ error: 'not_found' });
    expect((await send({ credential }, keys.ann, authPath(contextId, 'nothing'))).status).toBe(404);
    expect(await send({ credentials: credential })).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    const node = await forge.ask('POST', `/v1/runs/${asked.taskId}/interrupts/${asked.authId}`, {
      body: { resumeValue: { eventPayload: { credentialRef: 'cred_of_somebody' } } },
    });
    expect([node.status, node.body.error]).toEqual([403, 'forbidden']);
    const input = await forge.ask('POST', `/api/contexts/${contextId}/inputs/${asked.authId}`, {
      body: { value: 'x' },
    });
    expect(input.status).toBe(403);
    expect(await send({ credential })).toMatchObject({
      status: 202,
      body: { authId: asked.authId, taskId: asked.taskId },
    });
    expect(await send({ credential })).toMatchObject({ status: 409, body: { error: 'interrupt_already_resolved' } });
    const faces = await forge.until(contextId, isEnd);
    expect(ofKind(faces, 'tool-complete')[0]).toMatchObject({
      result: { length: secret.length, said: 'key=[REDACTED]' },
    });
    const bundle = await forge.ask('GET', `/v1/runs/${asked.taskId}/debug-bundle`);
    const events = await forge.ask('GET', `/v1/runs/${asked.taskId}/events`);
    for (const { text } of [bundle, events]) expect(text).not.toContain(secret);
    await forge.stop();
    expect(await forge.bytes()).not.toContain(secret);
    await forge.start();
    const again = await forge.send('host:clerk');
    expect(ofKind(await forge.until(again.contextId, isEnd), 'auth-required')).toEqual([]);
    await forget();
  });

  it('is refused in any other form, and the sign-in stays open', async () => {
    const [{ contextId }, other] = [await forge.send('host:clerk'), await forge.send('host:clerk')];
    const asked = await forge.required(contextId);
    const foreign = (await forge.required(other.contextId)).encryptionKey;
    const { kid: _, ...unnamed } = foreign as JWK;
    const whole = await encryptedTo(asked.encryptionKey, secret);
    const [head = '', ...rest] = whole.split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none', enc: 'A256GCM' })).toString('base64url');
    const hostile = [
      'plain text',
      secret,
      `${'A'.repeat(40_000)}.${'A'.repeat(100)}.A.A.A`,
      new UnsecuredJWT({ key: secret }).encode(),
      [none, ...rest].join('.'),
      [head, ...rest.slice(0, 3), 'AAAAAAAAAAAAAAAAAAAAAA'].join('.'),
      await encryptedTo(unnamed, secret),
      await encryptedTo(unnamed, secret, { kid: String((foreign as JWK).kid) }),
      await encryptedTo(asked.encryptionKey, 'short'),
      await encryptedTo(asked.encryptionKey, 'a key\r\nwith: a header'),
      await encryptedTo(asked.encryptionKey, 'x'.repeat(20_000)),
    ];
    for (const credential of hostile) {
      const refused = await forge.ask('POST', authPath(contextId, asked.authId), { body: { credential } });
      expect([refused.status, refused.body.error]).toEqual([422, 'input_invalid']);
      expect(refused.text).not.toContain(secret);
    }
    for (const [context, face] of [
      [contextId, asked],
      [other.contextId, await forge.required(other.contextId)],
    ] as const) {
      expect((await forge.ask('POST', authPath(context, face.authId), { body: { denied: true } })).status).toBe(202);
      expect(ofKind(await forge.until(context, isEnd), 'error')[0]).toMatchObject({ code: 'auth_denied' });
    }
    expect((await forge.ask('GET', '/v1/host/cairn/credentials')).body).toEqual({ credentials: [] });
  });

  it('comes too late when its time is over', async () => {
    const { contextId } = await forge.send('host:hasty');
    const faces = await forge.until(contextId, isEnd);
    const [asked] = ofKind(faces, 'auth-required');
    expect(ofKind(faces, 'error')[0]).toMatchObject({ code: 'auth_expired', retryable: true });
    expect(ofKind(faces, 'tool-complete')[0]).toMatchObject({ errorInfo: { code: 'auth_expired' } });
    const credential = await encryptedTo(asked?.encryptionKey, secret);
    const late = await forge.ask('POST', authPath(contextId, asked?.authId), { body: { credential } });
    expect([late.status, late.body.error]).toEqual([409, 'auth_expired']);
  });
});
