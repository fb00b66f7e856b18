/** A page of a context with thousands of runs costs what a page of one run costs. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { context, creation, row, started } from '../../ports/samples.kit.ts';
import { database, folders } from '../folder/folders.kit.ts';
import { assembleStore } from '../store.ts';
import { SharedValues } from '../values/shared-values.ts';
import { ContextReader } from './context-reader.ts';

const { fresh } = folders();

/** Counts the statements that are stepped, and the rows that they give. */
function counted(db: DatabaseSync): { readonly db: DatabaseSync; readonly work: { steps: number } } {
  const work = { steps: 0 };
  const counting = (statement: object): object =>
    new Proxy(statement, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name, of);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          const result: unknown = Reflect.apply(value, of, given);
          if (name === 'get') work.steps += 1;
          if (name === 'all') work.steps += 1 + (Array.isArray(result) ? result.length : 0);
          return name === 'iterate' ? countingRows(result as Iterable<unknown>) : result;
        };
      },
    });
  function* countingRows(rows: Iterable<unknown>): Iterable<unknown> {
    for (const found of rows) {
      work.steps += 1;
      yield found;
    }
  }
  const proxy = new Proxy(db, {
    get(of, name) {
      const value: unknown = Reflect.get(of, name, of);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const result: unknown = Reflect.apply(value, of, given);
        return name === 'prepare' ? counting(result as object) : result;
      };
    },
  });
  return { db: proxy, work };
}

it('reads a page at any cursor with work that does not grow with the runs of the context', async () => {
  const { db, file } = database(fresh());
  const store = assembleStore({ db, file, closed: () => {} });
  const runs = Array.from({ length: 2_000 }, (_, i) => `run_${i}` as RunId);
  await Promise.all(runs.map((runId) => store.log.append(creation(runId, { rows: [started(), row('a'), row('b')] }))));
  const { db: watched, work } = counted(db);
  const reader = new ContextReader(watched, new SharedValues(watched));
  const costs = [0, 1, 1_500, 3_001, 5_900].map((afterCursor) => {
    work.steps = 0;
    expect(reader.read({ contextId: context, afterCursor, limit: 60 }).length).toBe(60);
    return work.steps;
  });
  expect(Math.max(...costs)).toBeLessThan(250);
  // One long run that stopped early must not be searched for what came after it.
  const segments = db.prepare('SELECT count(*) AS n FROM context_segments').get()?.n;
  expect(segments).toBe(runs.length);
  await store.close();
});

it('writes no segment while a context goes on with the same run', async () => {
  const { db, file } = database(fresh());
  const store = assembleStore({ db, file, closed: () => {} });
  const runId = 'run_a' as RunId;
  await store.log.append(creation(runId));
  for (let i = 0; i < 20; i += 1) await store.log.append({ runId, rows: [row('a')] });
  expect(db.prepare('SELECT context, cursor, seq FROM context_segments').all()).toEqual([
    { context, cursor: 1, seq: 0 },
  ]);
  await store.close();
});
