import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Chunk, Sink } from '../../packages/host/src/log/feed/sink.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { taskFaces } from '../../packages/host/src/log/task-faces.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { Auditor } from './auditor.ts';
import { Complaints } from './breach.ts';
import { Streams } from './streams.ts';

const runId = 'run_1' as RunId;
const payload = JSON.stringify({ workflowId: 'w', definitionHash: 'h', inputs: {}, owner: { tenant: 't' } });

/** A watcher of a run with two durable rows, over a feed that the test speaks for. */
async function watched() {
  const complaints = new Complaints();
  const world = { complain: complaints.complain, count: () => undefined, note: () => undefined };
  const base = inMemoryStore();
  const auditor = new Auditor({ base, onRow: () => undefined, ...world });
  const faceOf = taskFaces(runId);
  const row = (seq: number, type: string, body: string) => {
    const bare = { at: 1, audience: 'client', type, payload: body } as const;
    return { ...bare, task: faceOf({ ...bare, seq, nodeId: null, cause: null }) };
  };
  await base.log.append({
    runId,
    rows: [
      row(0, 'run.started', payload),
      row(1, 'node.started', JSON.stringify({ nodeId: 'n', typeId: 'core.noop' })),
    ],
    create: { tenant: 't', contextId: 'ctx_1' as ContextId, originRunId: runId },
  });
  const sinks: Sink[] = [];
  const feed = {
    subscribe: (_range: unknown, given: Sink) => {
      sinks.push(given);
      return { resume: () => undefined, close: () => undefined };
    },
  };
  const streams = new Streams({ random: createRandom(1), auditor, ...world });
  streams.act(runId, { name: 'a1', feed });
  return { sink: present(sinks[0]), streams, broken: () => complaints.first?.invariant ?? null };
}

/** Watchers look only at the text. */
const chunk = (text: string): Chunk => ({ text, upTo: 0, urgent: false, isLast: false });

test('is content with rows in order that are durable', async () => {
  const { sink, broken } = await watched();
  sink.write(chunk('id: 0\nevent: run.started\ndata: {}\n\nid: 1\nevent: node.started\ndata: {}\n\n'));
  expect(broken()).toBeNull();
});

test('notices an event that was left out', async () => {
  const { sink, broken } = await watched();
  sink.write(chunk('id: 1\ndata: {}\n\n'));
  expect(broken()).toBe('a stream misses nothing and repeats nothing');
});

test('notices an event that is not durable', async () => {
  const { sink, broken } = await watched();
  sink.write(chunk('id: 0\ndata: {}\n\nid: 1\ndata: {}\n\nid: 2\ndata: {}\n\n'));
  expect(broken()).toBe('a stream shows only what is durable');
});

test('notices a stream that ends before its run', async () => {
  const { sink, broken } = await watched();
  sink.write(chunk('id: 0\ndata: {}\n\nid: 1\ndata: {}\n\n'));
  sink.end();
  expect(broken()).toBe('a stream ends after the terminal event');
});

test('notices a stream that is left hanging', async () => {
  const { streams, broken } = await watched();
  streams.checkAll();
  expect(broken()).toBe('a stream ends after the terminal event');
});
