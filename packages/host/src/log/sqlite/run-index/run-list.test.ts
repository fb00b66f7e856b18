/** How SQLite answers the run list: each set of filters walks one index, which visits no run that is not on the page. */
import { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { creation, row, started } from '../../ports/samples.kit.ts';
import { folders, open } from '../folder/folders.kit.ts';
import { migrate } from '../folder/migrate.ts';
import { pendingInterrupts } from './pending-interrupts.ts';
import { RunList } from './run-list.ts';

const { fresh } = folders();

const byKey = 'SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)';

/** Every set of filters, and the steps that answer it. A step names all its conditions, so it visits only matches. */
const plans: readonly (readonly [filters: object, plan: readonly string[]])[] = [
  [{}, ['SEARCH runs USING INDEX runs_by_tenant (tenant=? AND rowid<?)']],
  [{ status: 'running' }, ['SEARCH runs USING INDEX runs_by_shown (tenant=? AND shown=? AND rowid<?)']],
  [{ workflowId: 'wf' }, ['SEARCH runs USING INDEX runs_by_workflow (tenant=? AND workflow=? AND rowid<?)']],
  [
    { status: 'completed', workflowId: 'wf' },
    ['SEARCH runs USING INDEX runs_by_workflow_shown (tenant=? AND workflow=? AND shown=? AND rowid<?)'],
  ],
  [{ parentRunId: 'run_1' }, ['SEARCH runs USING INDEX runs_by_parent (parent=? AND rowid<?)']],
  [{ tag: 'red' }, ['SEARCH tags USING PRIMARY KEY (tenant=? AND tag=? AND run<?)', byKey]],
  [
    { tag: 'red', status: 'paused' },
    ['SEARCH tags USING COVERING INDEX run_tags_by_shown (tenant=? AND tag=? AND shown=? AND run<?)', byKey],
  ],
  [
    { tag: 'red', workflowId: 'wf' },
    ['SEARCH tags USING COVERING INDEX run_tags_by_workflow (tenant=? AND tag=? AND workflow=? AND run<?)', byKey],
  ],
  [
    { tag: 'red', workflowId: 'wf', status: 'failed' },
    [
      'SEARCH tags USING COVERING INDEX run_tags_by_workflow_shown (tenant=? AND tag=? AND workflow=? AND shown=? AND run<?)',
      byKey,
    ],
  ],
];

/** The statements that `work` prepares, with their plans. */
function plansOf(work: (db: DatabaseSync) => void): readonly (readonly string[])[] {
  using db = new DatabaseSync(':memory:');
  migrate(db, ':memory:');
  const asked: string[] = [];
  const { prepare } = db;
  db.prepare = (...statement) => {
    asked.push(statement[0]);
    return prepare.apply(db, statement);
  };
  work(db);
  return asked.splice(0).map((sql) => {
    const places = (sql.match(/\?/g) ?? []).map(() => null);
    return db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...places)
      .map(({ detail }) => String(detail));
  });
}

describe('the run list', () => {
  it.each(plans)('with %o walks one index in the order of the list', (filters, plan) => {
    expect(plansOf((db) => new RunList(db).page({ tenant: 't', limit: 5, ...filters }))).toEqual([plan]);
  });

  it('of runs without a parent walks two, of which one has only imported runs', () => {
    expect(plansOf((db) => new RunList(db).page({ tenant: 't', limit: 5, parentRunId: null }))).toEqual([
      ['SEARCH runs USING INDEX runs_roots (tenant=? AND rowid<?)'],
      [
        'SEARCH runs USING INDEX runs_imported_children (tenant=? AND rowid>? AND rowid<?)',
        'CORRELATED SCALAR SUBQUERY 1',
        expect.stringMatching(/^SEARCH above USING .*\(id=\?\)$/),
      ],
    ]);
  });

  it('ends a page early when its runs have long tags, and goes on from there', async () => {
    const store = await open(fresh());
    const tags = Array.from({ length: 100 }, (_, i) => `${i}-`.padEnd(256, 'x'));
    const ids = Array.from({ length: 25 }, (_, i) => `run_${i}` as RunId);
    for (const runId of ids) await store.log.append(creation(runId, { rows: [started({ tags })] }));
    const found: string[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.runIndex.list({ tenant: 't', limit: 200, cursor });
      found.push(...page.runs.map(({ runId }) => runId));
      sizes.push(page.runs.length);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(ids.toReversed());
    expect(sizes).toEqual([11, 11, 3]);
    await store.close();
  });

  it('leads to the next page also when a run ended in between', async () => {
    const store = await open(fresh());
    for (let i = 0; i < 4; i += 1) await store.log.append(creation(`run_${i}` as RunId));
    const first = await store.runIndex.list({ tenant: 't', status: 'running', limit: 2 });
    await store.log.append({ runId: 'run_1' as RunId, rows: [row('run.completed')] });
    const rest = { tenant: 't', status: 'running', limit: 2, cursor: present(first.nextCursor) } as const;
    expect((await store.runIndex.list(rest)).runs.map(({ runId }) => runId)).toEqual(['run_0']);
    await store.close();
  });
});

describe('pending interrupts', () => {
  it('walk an index with only the open ones of the tenant', () => {
    expect(plansOf((db) => pendingInterrupts(db)({ tenant: 't', limit: 5 }))).toEqual([
      ['SEARCH interrupts USING INDEX interrupts_pending (tenant=? AND rowid>?)', byKey],
    ]);
  });
});
