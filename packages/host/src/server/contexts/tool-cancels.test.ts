/** One tool call is canceled while its function runs or waits; the agent goes on. */
import type { Json } from '@cairn/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentOf, CalledHost, calls, ofKind, says, workTool } from './called-host.kit.ts';

const { tool, set } = workTool();
const host = new CalledHost([agentOf('host:desk', [calls(['acme.desk:work', {}]), says('Done.')])], [tool]);
beforeAll(() => host.start());
afterAll(() => host.close());

async function called(kind: string) {
  const task = await host.send('host:desk');
  const events = await host.upTo(task, (event) => event.kind === kind);
  return { task, toolCallId: ofKind(events, 'tool-start')[0]?.toolCallId };
}

const canceled = { success: false, error: 'canceled', errorInfo: { code: 'tool_canceled', retryable: false } };

it('a function that heeds its signal ends at once, and whatever it returns is dropped', async () => {
  set.work = ({ signal, progress }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve('stopped'));
      progress(0.1);
    });
  const { task, toolCallId } = await called('tool-progress');
  expect(await host.cancelTool(task, toolCallId)).toMatchObject({ status: 202 });
  const events = await host.ended(task);
  expect(ofKind(events, 'tool-complete')).toMatchObject([canceled]);
  expect(events.at(-1)).toMatchObject({ kind: 'task-complete', content: 'Done.' });
  const late = host.notices.filter(({ event }) => event === 'tool.late_result').map(({ facts }) => facts);
  expect(late).toMatchObject([{ toolId: 'acme.desk:work', callId: toolCallId }]);
  expect((await host.cancelTool(task, toolCallId)).status).toBe(409);
});

it('a function that does not heed its signal is given up after two seconds', async () => {
  const { promise: late, resolve } = Promise.withResolvers<Json>();
  const { promise: stopping, resolve: hasStopped } = Promise.withResolvers<void>();
  set.work = ({ signal, progress }) => {
    signal.addEventListener('abort', () => hasStopped());
    progress(0.1);
    return late;
  };
  const { task, toolCallId } = await called('tool-progress');
  const cancel = host.cancelTool(task, toolCallId);
  await stopping;
  host.clock.advanceTo(host.clock.now() + 2_000);
  expect(await cancel).toMatchObject({ status: 202 });
  resolve('too late');
  expect(ofKind(await host.ended(task), 'tool-complete')).toMatchObject([canceled]);
});

it('a function that waits for a person is closed with its question', async () => {
  set.work = async ({ ask }) => ask({ prompt: 'Sure?' });
  const { task, toolCallId } = await called('input-required');
  expect(await host.cancelTool(task, toolCallId)).toMatchObject({ status: 202 });
  const events = await host.ended(task);
  expect(ofKind(events, 'tool-complete')).toMatchObject([canceled]);
  expect(ofKind(events, 'input-received')).toMatchObject([{ metadata: { outcome: 'canceled' } }]);
});

it('cancel of the task closes a call whose function goes on', async () => {
  set.work = ({ progress }) => {
    progress(0.1);
    return new Promise(() => undefined);
  };
  const { task } = await called('tool-progress');
  await host.json('POST', `/api/contexts/${task.contextId}/tasks/${task.taskId}/cancel`, { body: {} });
  const events = await host.ended(task);
  expect(ofKind(events, 'tool-complete')).toMatchObject([canceled]);
  expect(events.at(-1)).toMatchObject({ kind: 'task-status', status: 'canceled' });
});
