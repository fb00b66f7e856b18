import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { context, creation, row, runA } from '../../log/ports/samples.kit.ts';
import { readTask, type TaskPorts } from './read-task.ts';

test('of a task with many events only the newest are read, a few at a time', async () => {
  const { log, contexts } = inMemoryStore();
  await log.append(creation(runA));
  for (let i = 0; i < 60; i += 1)
    await log.append({ runId: runA, rows: Array.from({ length: 500 }, () => ({ ...row('x'), task: '{}' })) });
  const pages: number[] = [];
  const counted: TaskPorts['log'] = {
    head: (runId) => log.head(runId),
    read: async (range) => {
      const rows = await log.read(range);
      pages.push(rows.length);
      return rows;
    },
  };
  const { first } = await readTask({ log: counted, contexts }, context, runA);
  expect(first).toBe(0);
  expect(pages.reduce((sum, one) => sum + one, 0)).toBeLessThan(20_100);
  expect(pages.length).toBeGreaterThan(100);
  expect(Math.max(...pages)).toBeLessThanOrEqual(125);
});
