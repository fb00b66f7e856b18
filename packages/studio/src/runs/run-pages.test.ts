import type { RunSnapshot } from '@cairn/protocol';
import { expect, test } from 'vitest';
import {
  firstPages,
  missing,
  PAGE_SIZE,
  type RunPages,
  rowAt,
  withChanged,
  withNewest,
  withoutFar,
  withPage,
} from './run-pages.ts';

const runs = (from: number, count: number): readonly RunSnapshot[] =>
  Array.from({ length: count }, (_, i) => ({ runId: `run_${from + i}`, workflowId: 'w', status: 'completed' }));

/** A list of so many pages, the newest run first. */
function listOf(pages: number): RunPages {
  let list = firstPages({ runs: runs(0, PAGE_SIZE), nextCursor: 'c1' });
  for (let page = 1; page < pages; page += 1) {
    list = withPage(list, `c${page}`, { runs: runs(page * PAGE_SIZE, PAGE_SIZE), nextCursor: `c${page + 1}` });
  }
  return list;
}

const kept = ({ pages }: RunPages) => pages.filter((page) => page.runs !== null).length;

test('pages far from the view are dropped, keep their place, and are read again', () => {
  const list = withoutFar(listOf(40), 3_900, 3_930);
  expect(list.count).toBe(4_000);
  expect(kept(list)).toBeLessThan(12);
  expect(rowAt(list, 3_910)?.runId).toBe('run_3910');
  expect(rowAt(list, 500)).toBeNull();
  expect(missing(list, 490, 520)).toEqual(['c4', 'c5']);
  const read = withPage(list, 'c5', { runs: runs(500, PAGE_SIZE), nextCursor: 'c6' });
  expect(rowAt(read, 505)?.runId).toBe('run_505');
  expect(read.next).toBe('c40');
});

test('the next page is asked for before the last row is in view, once, and not after the end', () => {
  const list = listOf(2);
  expect(missing(list, 0, 30)).toEqual([]);
  expect(missing(list, 130, 170)).toEqual(['c2']);
  expect(missing({ ...list, next: null }, 130, 199)).toEqual([]);
  expect(withPage(list, 'of another filter', { runs: runs(0, 1), nextCursor: null })).toBe(list);
});

test('new runs come in at the top, runs that left the filter go, and the rest stays', () => {
  const newest = [...runs(-2, 2), ...runs(0, 10), ...runs(11, 38)];
  const list = withNewest(listOf(3), { runs: newest, nextCursor: 'x' });
  if (list === null) throw new Error('The list began anew.');
  expect([rowAt(list, 0)?.runId, rowAt(list, 2)?.runId, rowAt(list, 12)?.runId]).toEqual(['run_-2', 'run_0', 'run_11']);
  expect(list.count).toBe(3 * PAGE_SIZE + 1);
  expect(rowAt(list, PAGE_SIZE + 1)?.runId).toBe(`run_${PAGE_SIZE}`);
});

const at = (minute: number): string => new Date(minute * 60_000).toISOString();
const isCompleted = ({ status }: RunSnapshot): boolean => status === 'completed';

test('a run that changed is shown as it is, one that left the filter goes, and one that is not known is told', () => {
  const before = listOf(2);
  const [one, two, three] = ['run_5', 'run_150', 'run_7'].map((runId) => ({ runId, workflowId: 'changed' }));
  const changed = [
    { ...one, status: 'completed' },
    { ...two, status: 'completed' },
    { ...three, status: 'failed' },
  ] as RunSnapshot[];
  const { list, hasNew } = withChanged(before, changed, isCompleted);
  expect([rowAt(list, 5)?.workflowId, rowAt(list, 149)?.workflowId]).toEqual(['changed', 'changed']);
  expect([list.count, rowAt(list, 7)?.runId, hasNew]).toEqual([2 * PAGE_SIZE - 1, 'run_8', false]);
  const unknown = { runId: 'run_new', workflowId: 'w', status: 'completed' } as const;
  expect(withChanged(before, [unknown], isCompleted).hasNew).toBe(true);
  expect(withChanged(before, [{ ...unknown, status: 'failed' }], isCompleted).hasNew).toBe(false);
});

test('a change of a run on a page that was dropped is no new run', () => {
  const timed = runs(0, PAGE_SIZE).map((run, row) => ({ ...run, startedAt: at(1_000 - row) }));
  const list = firstPages({ runs: timed, nextCursor: 'c1' });
  const told = (minute: number) =>
    withChanged(list, [{ runId: 'run_x', workflowId: 'w', status: 'completed', startedAt: at(minute) }], isCompleted);
  expect([told(10).hasNew, told(1_001).hasNew, told(950).hasNew]).toEqual([false, true, true]);
});

test('the list begins anew when what is known does not meet what is new, or when it has grown too long', () => {
  expect(withNewest(listOf(2), { runs: runs(-500, 50), nextCursor: 'x' })).toBeNull();
  let list: RunPages | null = listOf(1);
  let added = 0;
  for (; list !== null && added < 5_000; added += 40) {
    list = withNewest(list, { runs: runs(-added - 40, 50), nextCursor: 'x' });
  }
  expect(added).toBeLessThan(1_100);
});
