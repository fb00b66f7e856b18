/** A branch of a message is answered by an agent that has heard what was said before it. */
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keys, says, Talk } from './talk.kit.ts';

let talk: Talk;
beforeAll(async () => {
  talk = await Talk.open();
});
afterAll(() => talk.close());

const heard = () => JSON.stringify(talk.requests.at(-1)?.body.messages);

/** Follows a run until its stream closes, and returns its status. */
async function statusOf(runId: string): Promise<unknown> {
  await (await talk.ask('GET', `/v1/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } })).text();
  return (await talk.json('GET', `/v1/runs/${runId}`)).body.status;
}

async function said(content: string, contextId?: string): Promise<{ task: string; context: string; status: unknown }> {
  const { body } = await talk.send(content, contextId && `/api/contexts/${contextId}/messages`);
  const [task, context] = [String(body.taskId), String(body.contextId)];
  return { task, context, status: await statusOf(task) };
}

test('the retry of a failed message hears the conversation before it', async () => {
  talk.script = () => says('Hello, Ada.');
  const { context } = await said('My name is Ada.');
  talk.script = () => ({ status: 400, body: { error: { message: 'no' } } });
  const failed = await said('What is my name?', context);
  expect(failed.status).toBe('failed');
  const first = heard();
  talk.script = () => says('Ada.');
  const { body } = await talk.json('POST', `/v1/runs/${failed.task}:retry`, { body: {} });
  expect(await statusOf(String(body.runId))).toBe('completed');
  expect(heard()).toBe(first);
  expect(heard()).toMatch(/My name is Ada\..*Hello, Ada\..*What is my name\?/);
  // So does the next message there, and it hears the answer of the retry.
  await said('Thanks.', String(body.contextId));
  expect(heard()).toMatch(/My name is Ada\..*Hello, Ada\..*What is my name\?.*"Ada\.".*Thanks\./);
});

test('a branch that reuses everything takes the recorded turn of a second message', async () => {
  talk.script = () => says('Noted.');
  const { context } = await said('I like tea.');
  const { task } = await said('What do I like?', context);
  const { length } = talk.requests;
  const cairn = { rules: [{ calls: '*', use: 'reuse' }] };
  const { body } = await talk.json('POST', `/v1/runs/${task}:fork`, { body: { mode: 'branch', fromSeq: 2, cairn } });
  expect(await statusOf(String(body.runId))).toBe('completed');
  expect(talk.requests).toHaveLength(length);
  const { body: page } = await talk.json('GET', `/v1/runs/${body.runId}/events`, { key: keys.operator });
  const reused = (page.events as readonly JsonObject[]).filter(
    ({ payload }) => 'reusedFrom' in (payload as JsonObject),
  );
  expect(reused.map(({ type }) => type)).toContain('cairn.model.returned');
});
