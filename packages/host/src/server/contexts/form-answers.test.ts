/** Answers to a single question: bare, or in the form that interrupts take. */
import type { Json } from '@cairn/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { agentOf, CalledHost, calls, ofKind, says, workTool } from './called-host.kit.ts';

const { tool, set } = workTool();
const desk = agentOf('host:desk', [calls(['acme.desk:work', {}]), says('Done.')]);

const host = new CalledHost([desk], [tool]);
beforeAll(async () => {
  set.work = ({ ask }) =>
    ask({ prompt: 'Quiz', name: 'quiz', schema: z.object({ answers: z.record(z.string(), z.string()) }) });
  await host.start();
});
afterAll(() => host.close());

async function answered(value: Json) {
  const task = await host.send('host:desk');
  const [asked] = ofKind(await host.upTo(task, ({ kind }) => kind === 'input-required'), 'input-required');
  expect(asked).toMatchObject({ schema: { required: ['answers'] } });
  expect(await host.answer(task, asked?.inputId, { value })).toMatchObject({ status: 202 });
  return ofKind(await host.ended(task), 'tool-complete')[0]?.result;
}

it('takes an answer whose own schema has a field named answers', async () => {
  for (const answers of [{ a: 'x' }, {}]) expect(await answered({ answers })).toEqual({ answers });
});

it('takes the form that names the question', async () => {
  const answers = { b: 'y' };
  const task = await host.send('host:desk');
  const [asked] = ofKind(await host.upTo(task, ({ kind }) => kind === 'input-required'), 'input-required');
  const { body } = await host.json('GET', `/v1/runs/${task.taskId}/interrupts`);
  const [open] = body.interrupts as { data: { questions: { id: string }[] } }[];
  const value = { answers: { [open?.data.questions[0]?.id ?? '']: { answers } } };
  expect(await host.answer(task, asked?.inputId, { value })).toMatchObject({ status: 202 });
  expect(ofKind(await host.ended(task), 'tool-complete')[0]?.result).toEqual({ answers });
});
