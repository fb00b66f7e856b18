import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { context, creation, row, runA } from '../../log/ports/samples.kit.ts';
import { type HistoryPorts, readHistory } from './history.ts';

test('the history of a client that leaves is not read to its end', async () => {
  const { log, contexts } = inMemoryStore();
  await log.append(creation(runA));
  for (let i = 0; i < 10; i += 1)
    await log.append({ runId: runA, rows: Array.from({ length: 500 }, () => ({ ...row('x'), task: '{}' })) });
  let pages = 0;
  const counted: HistoryPorts['log'] = Object.assign(Object.create(log), {
    read: (range: Parameters<HistoryPorts['log']['read']>[0]) => {
      pages += 1;
      return log.read(range);
    },
  });
  const run = { threadId: 'thread', runId: 'run', taskId: runA };
  const head = await contexts.head(context);
  const range = { contextId: context, run, after: head, head, withMessages: false };
  await readHistory({ log: counted, contexts }, { ...range, isGone: () => pages === 3 });
  expect(pages).toBe(3);
  await readHistory({ log: counted, contexts }, range);
  expect(pages).toBeGreaterThan(40);
});
