/** A conversation is forked before a message: the next one is heard after what came before, and nothing else. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keys, says, Talk } from './talk.kit.ts';

let talk: Talk;
beforeAll(async () => {
  talk = await Talk.open();
});
afterAll(() => talk.close());

/** What the model was told in its last turn. */
const heard = () =>
  ((talk.requests.at(-1)?.body.messages ?? []) as readonly { role: string; content: unknown }[])
    .filter(({ role }) => role !== 'system')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));

async function said(
  content: string,
  contextId?: string,
  body: object = {},
): Promise<{ task: string; context: string }> {
  const path = contextId === undefined ? '/api/messages' : `/api/contexts/${contextId}/messages`;
  const { body: accepted } = await talk.send(content, path, { body });
  const [task, context] = [String(accepted.taskId), String(accepted.contextId)];
  for (let status = ''; status !== 'completed'; ) {
    status = String((await talk.json('GET', `/api/contexts/${context}/tasks/${task}`)).body.status);
    if (status === 'failed') throw new Error(`The task ${task} failed.`);
  }
  return { task, context };
}

const fork = (contextId: string, before: string, more: { key?: string; headers?: Record<string, string> } = {}) =>
  talk.json('POST', `/api/contexts/${contextId}/fork`, { body: { before }, ...more });

test('the fork hears what was said before the message, and the conversation stays as it was', async () => {
  talk.script = () => says('Fine.');
  const { context } = await said('My name is Ada.');
  const { task: second } = await said('I like tea.', context);
  await said('What do I like?', context);
  const before = await talk.events(context);
  const { status, body } = await fork(context, second);
  expect([status, body.tasks]).toEqual([201, 1]);
  const forked = String(body.contextId);
  expect(forked).not.toBe(context);
  const shown = await talk.events(forked);
  expect(shown.map(({ kind }) => kind)).toContain('task-complete');
  expect(JSON.stringify(shown)).toContain('My name is Ada.');
  expect(JSON.stringify(shown)).not.toContain('tea');
  await said('I like coffee.', forked);
  expect(heard().join(' ')).toMatch(/My name is Ada\..*Fine\..*I like coffee\./s);
  expect(heard().join(' ')).not.toContain('tea');
  expect(await talk.events(context)).toEqual(before);
});

test('a fork of a fork shares what both had', async () => {
  const { context } = await said('One.');
  const { task } = await said('Two.', context);
  const first = String((await fork(context, task)).body.contextId);
  const { task: other } = await said('Three.', first);
  const second = await fork(first, other);
  expect(second.body.tasks).toBe(1);
  await said('Four.', String(second.body.contextId));
  expect(heard().join(' ')).toMatch(/One\..*Four\./s);
  expect(heard().join(' ')).not.toMatch(/Two|Three/);
});

test('a repeated request makes one fork', async () => {
  const { context } = await said('One.');
  const { task } = await said('Two.', context);
  const headers = { 'idempotency-key': 'fork-this-once-and-only-once' };
  const [one, again] = [await fork(context, task, { headers }), await fork(context, task, { headers })];
  expect(again.body).toEqual(one.body);
});

test('what cannot be shared is refused', async () => {
  const { context, task } = await said('One.');
  expect((await fork(context, task)).body).toMatchObject({ error: 'conflict' });
  expect((await fork(context, 'run_nobody')).body).toMatchObject({ error: 'not_found' });
  expect((await fork(context, task, { key: keys.other })).body).toMatchObject({ error: 'not_found' });
  expect((await fork('ctx_nobody', task)).body).toMatchObject({ error: 'not_found' });
});

test('a message that does another again is answered without having heard it', async () => {
  talk.script = () => says('A poor answer.');
  const { context, task } = await said('How are you?');
  talk.script = () => says('A good answer.');
  await said('How are you?', context, { retryOf: task });
  expect(heard().join(' ')).not.toContain('A poor answer.');
  const created = (await talk.events(context)).filter(({ kind }) => kind === 'task-created');
  expect(created.at(-1)).toMatchObject({ metadata: { retryOf: task } });
});
