import type { RunSnapshot } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { type Children, type FoldedRows, foldedRows, withChangedChildren } from './folded-rows.ts';
import { firstPages, withPage } from './run-pages.ts';

const run = (runId: string, fields: Partial<RunSnapshot> = {}): RunSnapshot => ({
  runId,
  workflowId: 'w',
  status: 'running',
  ...fields,
});
const known = (runs: readonly RunSnapshot[], hasMore = false): Children => ({ runs, hasMore, error: null });
const list = withPage(firstPages({ runs: [run('a'), run('b'), run('c')], nextCursor: 'n' }), 'n', {
  runs: [run('d')],
  nextCursor: null,
});

const told = (rows: FoldedRows): readonly string[] =>
  Array.from({ length: rows.count }, (_, at) => {
    const row = rows.at(at);
    const name = row.is === 'run' ? row.run.runId : row.is;
    return `${'-'.repeat(row.depth)}${name} ${rows.listRow(at)}`;
  });

test('the children of open runs stand below them, at every depth, and each row knows its row of the list', () => {
  const open = new Map([
    ['b', known([run('b2'), run('b1')], true)],
    ['b2', known([run('deep')])],
    ['d', { runs: null, hasMore: false, error: null }],
    ['nobody', known([run('x')])],
  ]);
  const rows = ['a 0', 'b 1', '-b2 1', '--deep 1', '-b1 1', '-more 1', 'c 2', 'd 3', '-reading 3'];
  expect(told(foldedRows(list, open))).toEqual(rows);
  expect(told(foldedRows(list, new Map()))).toEqual(['a 0', 'b 1', 'c 2', 'd 3']);
  expect(told(foldedRows(list, new Map([['a', { ...known([]), error: new Error('x') }]])))[1]).toBe('-failed 0');
});

test('a run that is its own ancestor ends', () => {
  expect(foldedRows(list, new Map([['a', known([run('a')])]])).count).toBeLessThan(20);
});

test('a child that changed is shown as it is, a new one comes first, and no more than fit are kept', () => {
  const open = new Map([['a', known([run('a2'), run('a1')])]]);
  const done = run('a1', { parentRunId: 'a', status: 'completed' });
  const changed = withChangedChildren(open, [done, run('a3', { parentRunId: 'a' }), run('other')], 2);
  expect(changed.get('a')).toMatchObject({ runs: [{ runId: 'a3' }, { runId: 'a2' }], hasMore: true });
  expect(withChangedChildren(open, [done], 2).get('a')?.runs?.[1]?.status).toBe('completed');
  const old = run('a0', { parentRunId: 'a', startedAt: '2026-01-01' });
  const later = known([run('a2', { startedAt: '2026-02-01' })], true);
  expect(withChangedChildren(new Map([['a', later]]), [old], 2).get('a')).toEqual(later);
});
