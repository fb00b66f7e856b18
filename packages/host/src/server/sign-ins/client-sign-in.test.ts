/** Sign-ins with the client library against a whole host and a real OAuth server. */
import { type Context, createClient, type TaskEventOf } from '@cairn/client/context';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Forge, keys } from './forge.kit.ts';

let forge: Forge;
beforeAll(async () => {
  forge = await Forge.open();
});
afterAll(() => forge.close());

/** A conversation in which an agent asks to sign in. */
async function asking(agentId: string): Promise<{ context: Context; asked: TaskEventOf<'auth-required'> }> {
  const context = createClient({ url: forge.url, key: keys.ann }).context();
  for await (const event of context.send('Who am I?', { agentId })) {
    if (event.kind === 'auth-required') return { context, asked: event };
  }
  throw new Error('Nobody asked to sign in.');
}

async function ended(context: Context): Promise<string> {
  for await (const event of context.follow({ after: 0, kinds: ['task-complete'] })) {
    if (event.kind === 'task-complete') return event.content ?? '';
  }
  throw new Error('The stream ended.');
}

it('encrypts a key so that the host can read it, and the task goes on', async () => {
  const { context, asked } = await asking('host:clerk');
  const done = await context.signIn(asked, { credential: 'key-of-ann-äöü-1234567890' });
  expect(done).toMatchObject({ authId: asked.authId, taskId: asked.taskId });
  expect(await ended(context)).toContain('25');
  await expect(context.signIn(asked, { credential: 'again-0123456789' })).rejects.toMatchObject({
    code: 'interrupt_already_resolved',
  });
  for (const { credentialRef } of (await forge.ask('GET', '/v1/host/cairn/credentials')).body.credentials as {
    credentialRef: string;
  }[]) {
    await forge.ask('DELETE', `/v1/host/cairn/credentials/${credentialRef}`);
  }
});

it('finds the event of an id, and refuses on behalf of the user', async () => {
  const { context, asked } = await asking('host:clerk');
  await expect(context.signIn('auth_unknown', { denied: true })).rejects.toMatchObject({ code: 'not_found' });
  expect(await context.signIn(asked.authId, { denied: true })).toMatchObject({ authId: asked.authId });
  expect(await ended(context)).toContain('auth_denied');
});

it('opens the address of the service before it awaits anything, and the user comes back signed in', async () => {
  const { context, asked } = await asking('host:forge');
  const opened: string[] = [];
  const opening = context.signIn(asked, { open: (url) => opened.push(url) });
  expect(opened).toEqual([asked.authUrl]);
  expect(await opening).toBeNull();
  await forge.browse(String(opened[0]));
  expect(await ended(context)).toContain('ann-at-forge');
});

it('opens nothing but web addresses, and sends no text in the clear', async () => {
  const { context, asked } = await asking('host:clerk');
  const opened: string[] = [];
  const open = (url: string) => opened.push(url);
  const script = { authId: asked.authId, authUrl: 'javascript:alert(1)' };
  await expect(context.signIn(script, { open })).rejects.toMatchObject({ code: 'validation_error' });
  const { encryptionKey: _none, ...keyless } = asked;
  await expect(context.signIn(keyless, { credential: 'a-key-0123456789' })).rejects.toMatchObject({
    code: 'validation_error',
  });
  await expect(
    context.signIn({ ...keyless, encryptionKey: { kty: 'RSA' } }, { credential: 'a-key-0123456789' }),
  ).rejects.toMatchObject({ code: 'validation_error' });
  expect(opened).toEqual([]);
});

it('asks whoever forks a run to sign in, and never uses the credential of the user who started it', async () => {
  const { context, asked } = await asking('host:clerk');
  await context.signIn(asked, { credential: 'key-of-ann-0123456789' });
  await ended(context);
  const forked = await forge.ask('POST', `/v1/runs/${asked.taskId}:fork`, {
    key: keys.bob,
    body: { fromSeq: 1, mode: 'branch' },
  });
  const { authId } = await forge.required(String(forked.body.contextId), keys.bob);
  const path = `/api/contexts/${forked.body.contextId}/auths/${authId}`;
  expect((await forge.ask('POST', path, { key: keys.ann, body: { denied: true } })).status).toBe(403);
  expect((await forge.ask('POST', path, { key: keys.bob, body: { denied: true } })).status).toBe(202);
});
