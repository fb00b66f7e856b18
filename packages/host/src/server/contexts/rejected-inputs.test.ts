/** What people reject: each question of a tool and of a workflow, as the contract says. */
import { parseShape, TerminalError, taskEvent } from '@cairn/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { agentOf, CalledHost, calls, ofKind, says, workTool } from './called-host.kit.ts';

const { tool, set } = workTool();
const desk = agentOf('host:desk', [calls(['acme.desk:work', {}]), says('Done.')]);

const host = new CalledHost([desk], [tool]);
beforeAll(() => host.start());
afterAll(() => host.close());

/** The end of the call after its question was rejected, and what the events say of the answer. */
async function rejected(body: object = { reject: true }) {
  const task = await host.send('host:desk');
  const asked = ofKind(await host.upTo(task, ({ kind }) => kind === 'input-required'), 'input-required');
  const answer = await host.answer(task, asked[0]?.inputId, body);
  expect(answer).toMatchObject({ status: 202 });
  expect(await host.answer(task, asked[0]?.inputId, body)).toMatchObject({ status: 409 });
  const events = await host.ended(task);
  for (const event of events) parseShape(taskEvent, event, 'The event');
  const [received] = ofKind(events, 'input-received');
  expect(received).toMatchObject({ providedBy: 'user', userId: 'ann', metadata: { outcome: 'rejected' } });
  return { asked: asked[0], call: ofKind(events, 'tool-complete')[0] };
}

it('answers a question with a yes or a no with no', async () => {
  set.work = async ({ ask }) => ({ isPaid: await ask({ prompt: 'Pay?', schema: z.boolean() }) });
  const { asked, call } = await rejected();
  expect(asked).toMatchObject({ inputType: 'confirmation' });
  expect(call).toMatchObject({ success: true, result: { isPaid: false } });
});

it('lets ask throw for any other question, with the reason', async () => {
  set.work = async ({ ask }) => ask({ prompt: 'Which?', options: ['red', 'blue'] });
  const { asked, call } = await rejected({ reject: true, reason: 'none of them' });
  expect(asked).toMatchObject({ inputType: 'selection' });
  expect(call).toMatchObject({
    success: false,
    error: 'The question was rejected: none of them',
    errorInfo: { code: 'input_rejected', retryable: false },
  });
});

it('rejects a question that takes only a yes', async () => {
  set.work = async ({ ask }) => ({ isRead: await ask({ prompt: 'Read the terms?', schema: z.literal(true) }) });
  for (const body of [{ reject: true }, { value: false }]) {
    const { asked, call } = await rejected(body);
    expect(asked).toMatchObject({ inputType: 'confirmation' });
    expect(call).toMatchObject({ success: false, errorInfo: { code: 'input_rejected' } });
  }
});

it('lets a tool go on without its answer', async () => {
  set.work = async ({ ask }) => {
    const refused = await ask({ prompt: 'Which?' }).catch((error: unknown) => error);
    return { code: refused instanceof TerminalError ? refused.code : null };
  };
  expect((await rejected()).call).toMatchObject({ success: true, result: { code: 'input_rejected' } });
});
