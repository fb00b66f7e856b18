/** What tasks of a context ask is answered once, by whom it is for, with what fits. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keys, Talk } from './talk.kit.ts';

let talk: Talk;
beforeAll(async () => {
  talk = await Talk.open();
});
afterAll(() => talk.close());

/** A task that waits for an approval. */
async function waiting() {
  const { runId, contextId } = await talk.engine.start({ tenant: 't', workflowId: 'gate', inputs: {}, options: {} });
  const { body } = await talk.json('GET', `/api/contexts/${contextId}/tasks`);
  const [task] = body.tasks as { status: string; pending: { id: string; type: string }[] }[];
  expect(task).toMatchObject({ status: 'waiting-input', pending: [{ type: 'input' }] });
  const inputId = String(task?.pending[0]?.id);
  const answer = (value: object, key: string = keys.ann, where: string = contextId) =>
    talk.json('POST', `/api/contexts/${where}/inputs/${inputId}`, { body: value, key });
  return { runId, contextId, inputId, answer };
}

it('takes the first answer and tells every other one that it came too late', async () => {
  const { answer, contextId, inputId, runId } = await waiting();
  expect(await answer({ value: true })).toMatchObject({ status: 202, body: { inputId, taskId: runId } });
  for (const value of [{ value: true }, { reject: true }]) {
    expect(await answer(value)).toMatchObject({ status: 409, body: { error: 'input_already_answered' } });
  }
  const events = await talk.events(contextId, 'kinds=input-required,input-received,task-status');
  const kinds = events.map(({ kind, status }) => (kind === 'task-status' ? status : kind));
  expect(kinds.indexOf('input-required')).toBeLessThan(kinds.indexOf('waiting-input'));
  expect(kinds.indexOf('waiting-input')).toBeLessThan(kinds.indexOf('input-received'));
  expect(events.find(({ kind }) => kind === 'input-received')).toMatchObject({
    inputId,
    providedBy: 'user',
    userId: 'ann',
    metadata: { outcome: 'answered' },
  });
});

it('takes one of two answers that race', async () => {
  const { answer } = await waiting();
  const answers = await Promise.all([answer({ value: true }), answer({ value: false }, keys.bob)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
});

it('stays open after an answer that does not fit', async () => {
  const { answer } = await waiting();
  expect(await answer({ value: { action: 'dance' } })).toMatchObject({ status: 422, body: { error: 'input_invalid' } });
  expect(await answer({ value: 7 })).toMatchObject({ status: 422 });
  expect(await answer({ values: 7 })).toMatchObject({
    status: 400,
    body: { error: 'validation_error', message: expect.stringContaining('must be { "value": … }') },
  });
  expect(await answer({ reject: true, reason: 'not now' })).toMatchObject({ status: 202 });
});

it('is unknown in another context and to another tenant', async () => {
  const first = await waiting();
  const second = await waiting();
  expect((await first.answer({ value: true }, keys.ann, second.contextId)).status).toBe(404);
  expect((await first.answer({ value: true }, keys.other)).status).toBe(404);
  const nothing = await talk.json('POST', `/api/contexts/${first.contextId}/inputs/nothing`, { body: { value: 1 } });
  expect(nothing.status).toBe(404);
});

it('fails its task with the same error in the events and in the list of tasks', async () => {
  const { answer, contextId, runId } = await waiting();
  await answer({ reject: true, reason: 'not now' });
  const failed = (await talk.events(contextId, 'kinds=task-status')).find(({ status }) => status === 'failed');
  expect(failed?.error).toMatchObject({ code: 'input_rejected', details: { code: 'approval_rejected' } });
  const { body } = await talk.json('GET', `/api/contexts/${contextId}/tasks/${runId}`);
  expect(body.error).toEqual(failed?.error);
});
