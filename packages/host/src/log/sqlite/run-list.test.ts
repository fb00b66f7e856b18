import { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { context, creation, row, started } from '../ports/samples.kit.ts';
import type { Store } from '../ports/store.ts';
import { folders, open } from './folder/folders.kit.ts';
import { migrate } from './folder/migrations.ts';
import { RunList } from './run-list.ts';

const { fresh } = folders();

/** More than are looked at one by one. */
const ENDED = 2_100;

const idOf = (name: string | number) => `run_${name}` as RunId;

/** A held, a sleeping and an imported run, one that nothing leads to, and then many that have ended. */
async function fill(store: Store): Promise<void> {
  const claim = { owner: 'n1', now: 0, until: 1_000_000 };
  await store.log.append(creation(idOf('held'), { claim }));
  await store.log.append(creation(idOf('sleeps'), { claim, rest: { wakeAt: 9 } }));
  await store.log.append(creation(idOf('adrift')));
  await store.log.append(creation(idOf('imported')));
  const head = await store.log.head(idOf('imported'));
  const copy = idOf('copy');
  const identity = { runId: copy, tenant: 't', contextId: context, originRunId: idOf('imported') };
  await store.log.importRun({ ...identity, importedAt: 5, seq: present(head).seq, hash: present(head).hash }, [
    started(),
  ]);
  await store.log.append({ runId: idOf('imported'), rows: [row('run.completed')] });
  await Promise.all(
    Array.from({ length: ENDED }, (_, i) =>
      store.log.append(creation(idOf(i), { rows: [started({ tags: i === 7 ? ['old'] : [] }), row('run.completed')] })),
    ),
  );
}

const farBack = ['copy', 'adrift', 'sleeps', 'held'].map(idOf);

describe('the run list of a long history', () => {
  it('finds the few runs that run far back, whatever leads to them, page by page', async () => {
    const store = await open(await fresh());
    await fill(store);
    const list = (limit: number, cursor?: string) =>
      store.runIndex.list({ tenant: 't', status: 'running', limit, ...(cursor === undefined ? {} : { cursor }) });
    const all = await list(50);
    expect(all.runs.map(({ runId }) => runId)).toEqual(farBack);
    const first = await list(3);
    const second = await list(3, present(first.nextCursor));
    expect([...first.runs, ...second.runs]).toEqual(all.runs);
    expect(second.nextCursor).toBeNull();
    const tagged = { tenant: 't', status: 'running', tag: 'red', workflowId: 'wf', limit: 9 } as const;
    expect((await store.runIndex.list(tagged)).runs).toHaveLength(4);
    expect((await store.runIndex.list({ tenant: 'other', status: 'running', limit: 9 })).runs).toEqual([]);
    await store.close();
  });

  it('finds runs that run among the newest without looking further', async () => {
    const store = await open(await fresh());
    await fill(store);
    await store.log.append(creation(idOf('new')));
    await store.log.append(creation(idOf('newer')));
    const page = await store.runIndex.list({ tenant: 't', status: 'running', limit: 1 });
    expect(page.runs.map(({ runId }) => runId)).toEqual([idOf('newer')]);
    const rest = await store.runIndex.list({
      tenant: 't',
      status: 'running',
      limit: 9,
      cursor: present(page.nextCursor),
    });
    expect(rest.runs.map(({ runId }) => runId)).toEqual([idOf('new'), ...farBack]);
    await store.close();
  });

  it('reads no whole table for any set of filters', () => {
    const db = new DatabaseSync(':memory:');
    migrate(db, 'memory');
    const asked: string[] = [];
    const { prepare } = db;
    db.prepare = (...statement) => {
      asked.push(statement[0]);
      return prepare.apply(db, statement);
    };
    const list = new RunList(db);
    for (const status of [undefined, 'running', 'completed', 'paused'] as const) {
      for (const workflowId of [undefined, 'wf']) {
        for (const tag of [undefined, 'red']) list.page({ tenant: 't', status, workflowId, tag, limit: 5 });
      }
    }
    for (const sql of asked.splice(0)) {
      const places = (sql.match(/\?/g) ?? []).map(() => null);
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...places);
      for (const { detail } of plan) expect(String(detail), sql).not.toMatch(/^SCAN (?!.*INDEX)/);
    }
    db.close();
  });
});
