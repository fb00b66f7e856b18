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
  const list = withoutFar(listOf(40), { from: 3_900, to: 3_930, open: new Set(['run_1550']) });
  expect(list.count).toBe(4_000);
  expect(kept(list)).toBeLessThan(12);
  // Rows below an open run would jump without it.
  expect(rowAt(list, 1_550)?.runId).toBe('run_1550');
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

/** One run a minute, the newest first. */
const timed = (from: number, count: number): readonly RunSnapshot[] =>
  runs(from, count).map((run, row) => ({ ...run, startedAt: at(10_000 - from - row) }));
const late = (minute: number): RunSnapshot => ({
  runId: 'run_late',
  workflowId: 'w',
  status: 'completed',
  startedAt: at(minute),
});

function timedList(): RunPages {
  let list = firstPages({ runs: timed(0, PAGE_SIZE), nextCursor: 'c1' });
  for (let page = 1; page < 12; page += 1)
    list = withPage(list, `c${page}`, { runs: timed(page * PAGE_SIZE, PAGE_SIZE), nextCursor: `c${page + 1}` });
  return list;
}

test('a run that matches since now comes into its place, wherever that is', () => {
  const list = timedList();
  for (const row of [1, 70, 100, 750, 1_199]) {
    const { list: next, hasNew } = withChanged(list, [late(10_000 - row + 0.5)], isCompleted);
    expect([rowAt(next, row)?.runId, rowAt(next, row + 1)?.runId]).toEqual(['run_late', `run_${row}`]);
    expect([next.count, hasNew]).toEqual([list.count + 1, false]);
  }
  expect(withChanged(list, [late(10_001)], isCompleted).hasNew).toBe(true);
  // Below what was read: the next page will bring it.
  expect(withChanged(list, [late(10)], isCompleted).list.count).toBe(list.count);
  const whole = withChanged({ ...list, next: null }, [late(10)], isCompleted).list;
  expect(rowAt(whole, 1_200)?.runId).toBe('run_late');
});

test('a page that was dropped is read with the runs that joined it, and shows none twice', () => {
  const list = withoutFar(timedList(), { from: 1_100, to: 1_130, open: new Set() });
  const joined = { ...late(9_650.5), runId: 'run_joined' };
  expect(withChanged(list, [joined], isCompleted)).toMatchObject({ list: { count: 1_200 }, hasNew: false });
  // The host sends as many as before, so that the last one of the page is left for one page more.
  const again = timed(300, PAGE_SIZE).toSpliced(50, 0, joined);
  const read = withPage(list, 'c3', { runs: again.slice(0, PAGE_SIZE), nextCursor: 'between' });
  expect([rowAt(read, 350)?.runId, rowAt(read, 400)]).toEqual(['run_joined', null]);
  expect(missing(read, 390, 401)).toEqual(['between', 'c4']);
  const rest = [...again.slice(PAGE_SIZE), ...timed(400, 20)];
  const whole = withPage(read, 'between', { runs: rest, nextCursor: 'x' });
  expect([rowAt(whole, 400)?.runId, whole.count, missing(whole, 395, 405)]).toEqual(['run_399', 1_201, ['c4']]);
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
