/** Branches of a run that waits for a peer: what they start at the peer is theirs alone. */
import { type Client, createClient } from '@cairn/client';
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { fixed } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { createHostOver, type Host } from '../create-host.ts';
import { type OtherPeer, otherPeer, task } from './other-peer.kit.ts';

const key = 'a-key-of-enough-characters';

const asks = defineWorkflow({
  id: 'asks',
  version: '1',
  nodes: { ask: { type: 'core.a2a.invoke', config: { peer: 'clerk' }, inputs: { message: fixed('Go.') } } },
});

let tasks = 0;
let peer: OtherPeer;
let host: Host;
let client: Client;

beforeAll(async () => {
  peer = await otherPeer({
    script: ({ method, params }, answer) => {
      if (method === 'CancelTask') return answer.result({ ...task('CANCELED'), id: String(params.id) });
      const { taskId } = (params.message ?? {}) as JsonObject;
      if (typeof taskId === 'string') {
        return answer.result({ task: { ...task('COMPLETED', `Thanks, ${taskId}.`), id: taskId } });
      }
      tasks += 1;
      return answer.result({ task: { ...task('INPUT_REQUIRED', 'Your name?'), id: `task-${tasks}` } });
    },
  });
  host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't' }], a2a: { peers: [{ name: 'clerk', url: peer.url }] } },
    workflows: [asks],
    report: () => undefined,
  });
  client = createClient({ url: host.url ?? '', key });
});

afterAll(async () => {
  await host.close();
  await peer.close();
});

const answer = (runId: string) => client.runs.answer(runId, 'ask', { answers: { answer: 'Una' } });

/** The outcome of the call, once the run has ended. Answers what is asked from an event on. */
async function outcome(runId: string, answersFrom = Number.POSITIVE_INFINITY): Promise<unknown> {
  const events: RunEventDoc[] = [];
  for await (const event of client.follow(runId)) {
    events.push(event);
    if (event.type === 'node.suspended' && event.sequence >= answersFrom) await answer(runId);
  }
  const returned = events.find(({ type }) => type === 'agent.toolReturned')?.payload as JsonObject | undefined;
  return returned?.outcome;
}

test('a branch has a task of its own: it neither answers nor cancels that of its source', async () => {
  const { runId } = await client.runs.create({ workflowId: 'asks' });
  let end = 0;
  for await (const { type, sequence } of client.follow(runId)) {
    end = sequence + 1;
    if (type === 'node.suspended') break;
  }
  const branch = async () => (await client.runs.fork(runId, { mode: 'branch', fromSeq: end })).runId;
  const [answered, canceled] = [await branch(), await branch()];
  await client.runs.cancel(canceled);
  await outcome(canceled);
  // The question that it shares with its source, then the one of its own task.
  await answer(answered);
  expect(await outcome(answered, end)).toBe('Thanks, task-2.');
  await answer(runId);
  expect(await outcome(runId)).toBe('Thanks, task-1.');
  expect(peer.received.map(({ method }) => method)).not.toContain('CancelTask');
});
