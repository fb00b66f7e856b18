/** Tasks that calls leave behind: the peer is asked to cancel them until it has, or for long enough. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import { expect, onTestFinished, test } from 'vitest';
import { defineWorkflow } from '../../../agents/define-workflow.ts';
import { fixed } from '../../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../../log/in-memory/store.ts';
import type { Store } from '../../../log/ports/store.ts';
import { openSqliteStore } from '../../../log/sqlite/folder/open.ts';
import { createHostOver } from '../../create-host.ts';
import { ManualTimers } from '../../manual-timers.kit.ts';
import { otherPeer, task } from '../other-peer.kit.ts';
import type { LeftTask } from './ended-calls.ts';
import { CANCELS, type CancelAnswer, PeerCancels } from './peer-cancels.ts';

const key = 'a-key-of-enough-characters';

const asks = defineWorkflow({
  id: 'asks',
  version: '1',
  nodes: { ask: { type: 'core.a2a.invoke', config: { peer: 'clerk' }, inputs: { message: fixed('Go.') } } },
});

test('a host that died finds the calls that ended before it, and asks until the peer confirms', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-cancels-'));
  const canceled = Promise.withResolvers<void>();
  const states = ['WORKING', 'CANCELED'];
  const peer = await otherPeer({
    script: ({ method }, answer) => {
      if (method !== 'CancelTask') return answer.result({ task: task('INPUT_REQUIRED', 'Your name?') });
      if (states.length === 1) canceled.resolve();
      answer.result(task(states.shift() ?? 'CANCELED'));
    },
  });
  const start = async (url: string) => {
    const config = { port: 0, keys: [{ key, tenant: 't' }], a2a: { peers: [{ name: 'clerk', url }] } };
    const store = await openSqliteStore({ folder });
    const host = await createHostOver(store, { config, workflows: [asks], report: () => undefined });
    return { host, client: createClient({ url: host.url ?? '', key }) };
  };
  const first = await start(peer.url);
  const { runId } = await first.client.runs.create({ workflowId: 'asks' });
  for await (const { type } of first.client.follow(runId)) if (type === 'node.suspended') break;
  await first.host.close();
  const before = await saved(folder);
  // This one cannot reach the peer, and what it saved is lost.
  const second = await start('http://127.0.0.1:9');
  await second.client.runs.cancel(runId);
  await second.host.close();
  await saved(folder, before);
  const third = await start(peer.url);
  onTestFinished(async () => {
    await third.host.close();
    await peer.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await canceled.promise;
  const cancels = peer.received.filter(({ method }) => method === 'CancelTask');
  expect(cancels.map(({ params }) => params.id)).toEqual(['task-1', 'task-1']);
  // They belong to the trace of the call, which ended in another process.
  const called = peer.received.find(({ method }) => method === 'SendMessage' || method === 'SendStreamingMessage');
  expect(called?.headers.traceparent).toMatch(/^00-/);
  for (const { headers } of cancels) expect(headers.traceparent).toBe(called?.headers.traceparent);
});

/** What the folder holds about open tasks. With a text, that instead. */
async function saved(folder: string, state?: string): Promise<string> {
  const store = await openSqliteStore({ folder });
  if (state !== undefined) await store.subscriptions.saveState(CANCELS, state, 0);
  const [record] = await store.subscriptions.list(CANCELS);
  await store.close();
  return record?.state ?? '';
}

interface Kept {
  readonly taskId: string;
  readonly attempts: number;
}

/** Cancels that a former process left open in the store. */
async function reopened(store: Store, open: readonly Kept[], answer: (task: LeftTask) => CancelAnswer) {
  const [timers, reports, asked] = [new ManualTimers(), [] as object[], [] as string[]];
  const about = { peer: 'clerk', tenant: 't', nextAt: 0 };
  const state = { position: await store.changes.end(), open: open.map((one) => ({ ...about, ...one })) };
  const record = { id: CANCELS, tenant: '', kind: CANCELS, body: '{}', state: JSON.stringify(state) };
  await store.subscriptions.put(record);
  const cancels = new PeerCancels({
    store,
    timers,
    now: () => 1_000,
    fence: 1,
    report: ({ event, facts }) => void reports.push({ event, ...facts }),
    cancel: async (left) => {
      asked.push(left.taskId);
      return answer(left);
    },
  });
  await cancels.open();
  const close = async (): Promise<readonly Kept[]> => {
    await cancels.close();
    const [saved] = await store.subscriptions.list(CANCELS);
    return JSON.parse(saved?.state ?? '{}').open;
  };
  return { timers, reports, asked, close };
}

test('a peer that never confirms is asked eight times, and then an operator is told', async () => {
  const later = { reason: 'It is busy.', isFinal: false };
  const { timers, reports, asked, close } = await reopened(
    inMemoryStore(),
    [{ taskId: 'a', attempts: 5 }],
    () => later,
  );
  await expect.poll(() => timers.delays).toContain(1_024_000);
  timers.pass(1_024_000);
  await expect.poll(() => timers.delays).toContain(3_600_000);
  expect(reports).toEqual([]);
  timers.pass(3_600_000);
  await expect
    .poll(() => reports)
    .toEqual([{ event: 'a2a.cancel_failed', peer: 'clerk', taskId: 'a', attempts: 8, message: 'It is busy.' }]);
  expect(asked).toEqual(['a', 'a', 'a']);
  expect(await close()).toEqual([]);
});

test('what has ended or can never end is not asked for again; what is open is kept for the next start', async () => {
  const answers: Record<string, CancelAnswer> = { done: 'ended', never: { reason: 'No.', isFinal: true } };
  const tasks = ['done', 'never', 'open'].map((taskId) => ({ taskId, attempts: 0 }));
  const { reports, close, asked } = await reopened(
    inMemoryStore(),
    tasks,
    ({ taskId }) => answers[taskId] ?? { reason: 'Later.', isFinal: false },
  );
  await expect.poll(() => reports).toMatchObject([{ taskId: 'never', attempts: 1, message: 'No.' }]);
  expect(asked).toEqual(['done', 'never', 'open']);
  expect(await close()).toMatchObject([{ taskId: 'open', attempts: 1, nextAt: 2_000 }]);
});
