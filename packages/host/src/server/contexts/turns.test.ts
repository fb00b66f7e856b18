import { contextId, type RunId, type RunStatus } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { creation, row, started } from '../../log/ports/samples.kit.ts';
import { ContextTurns, QUEUED_TAG } from './turns.ts';

test('a context in which thousands of runs wait is looked through in many turns of the event loop', async () => {
  const store = inMemoryStore();
  await store.log.append(creation('run_1' as RunId, { rows: [started(), row('run.paused')] }));
  const head = await store.log.head('run_1' as RunId);
  if (head === null) throw new Error('There is no run.');
  const queued = { ...head.record, status: 'paused' as RunStatus, tags: [QUEUED_TAG] };
  const contexts: typeof store.contexts = {
    ...store.contexts,
    runs: async ({ cursor = '0' }) => ({
      runs: Array.from({ length: 100 }, () => queued),
      nextCursor: Number(cursor) === 49 ? null : String(Number(cursor) + 1),
    }),
  };
  const engine = { resume: () => Promise.reject(new Error('Nothing is resumed.')) };
  const clusterNode = { alone: <Result>(_: string, work: () => Promise<Result>) => work() };
  const turns = new ContextTurns({ engine, store: { ...store, contexts }, clusterNode, report: () => undefined });
  let [passed, isOver] = [0, false];
  const tick = () => {
    passed += 1;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const { queued: found } = await turns.openTasks(contextId('c'));
  isOver = true;
  expect(found).toHaveLength(5_000);
  expect(passed).toBeGreaterThanOrEqual(45);
});
