/** Many tasks of a peer that are cancelled at the same time. */
import { createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { fixed } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver } from '../create-host.ts';
import { otherPeer, task } from './other-peer.kit.ts';

const key = 'a-key-of-enough-characters';
const RUNS = 5;

const asks = defineWorkflow({
  id: 'asks',
  version: '1',
  nodes: { ask: { type: 'core.a2a.invoke', config: { peer: 'clerk' }, inputs: { message: fixed('Go.') } } },
});

test('are cancelled a few at a time, as many as the peer may have calls', async () => {
  let tasks = 0;
  let open = 0;
  let mostOpen = 0;
  const canceled = new Set<string>();
  const unanswered: (() => void)[] = [];
  const all = Promise.withResolvers<void>();
  const peer = await otherPeer({
    script: ({ method, params }, answer) => {
      const { message = {} } = params;
      if (method !== 'CancelTask') {
        expect((message as JsonObject).taskId).toBeUndefined();
        tasks += 1;
        return answer.result({ task: { ...task('INPUT_REQUIRED', 'Your name?'), id: `task-${tasks}` } });
      }
      const taskId = String(params.id);
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      unanswered.push(() => {
        open -= 1;
        answer.result({ ...task('CANCELED'), id: taskId });
        if (canceled.add(taskId).size === RUNS) all.resolve();
      });
      // The second one comes while the first waits, however slow the machine is.
      if (open < 2 && canceled.size + open < RUNS) return;
      // The host has had the turns to send more.
      void client.inbox.list().then(() => {
        for (const end of unanswered.splice(0)) end();
      });
    },
  });
  const host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      keys: [{ key, tenant: 't' }],
      a2a: { peers: [{ name: 'clerk', url: peer.url, maxCallsAtOnce: 2, maxCallsPerTenant: 2 }] },
    },
    workflows: [asks],
    report: () => undefined,
  });
  onTestFinished(async () => {
    await host.close();
    await peer.close();
  });
  const client = createClient({ url: host.url ?? '', key });
  const runs = await Promise.all(Array.from({ length: RUNS }, () => client.runs.create({ workflowId: 'asks' })));
  await Promise.all(
    runs.map(async ({ runId }) => {
      for await (const { type } of client.follow(runId)) if (type === 'node.suspended') return;
    }),
  );
  await Promise.all(runs.map(({ runId }) => client.runs.cancel(runId)));
  await all.promise;
  expect(mostOpen).toBe(2);
});
