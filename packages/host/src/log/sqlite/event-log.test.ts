import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { context, creation, row, runA, runB, started } from '../ports/samples.kit.ts';
import { openSqliteStore } from './folder/open.ts';
import type { SqliteStore } from './store.ts';

const folders: string[] = [];

async function opened(): Promise<SqliteStore> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-log-'));
  folders.push(folder);
  return openSqliteStore({ folder });
}

afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const LARGE = 200_000;
const large = row('a', { payload: JSON.stringify('x'.repeat(LARGE)) });

/** Counts the characters that statements give out from here on. */
function loaded(): () => number {
  let characters = 0;
  const count = (columns: unknown): void => {
    for (const column of columns as readonly unknown[]) if (typeof column === 'string') characters += column.length;
  };
  const { iterate, all } = StatementSync.prototype;
  vi.spyOn(StatementSync.prototype, 'iterate').mockImplementation(function* (this: StatementSync, ...values) {
    for (const columns of Reflect.apply(iterate, this, values)) {
      count(columns);
      yield columns;
    }
  } as typeof iterate);
  vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...values) {
    const found = Reflect.apply(all, this, values);
    for (const columns of found) count(columns);
    return found;
  } as typeof all);
  return () => characters;
}

test('a page loads no row beyond its end', async () => {
  await withStore(async (store) => {
    await store.log.append(creation(runA, { rows: [started(), ...Array.from({ length: 50 }, () => large)] }));
    const characters = loaded();
    const most = 3 * LARGE;
    await store.log.read({ runId: runA, after: 0, limit: 500, maxBytes: LARGE + 1 });
    expect(characters()).toBeLessThan(most);
    await store.changes.read({ after: '1', limit: 500, maxBytes: LARGE + 1, filter: null });
    expect(characters()).toBeLessThan(2 * most);
    await store.changes.read({ after: '1', limit: 500, maxBytes: LARGE + 1, filter: { tenant: 't', types: ['a'] } });
    expect(characters()).toBeLessThan(3 * most);
  });
});

test('large pages are spread over turns of the event loop, and another tenant is not behind all of them', async () => {
  await withStore(async (store) => {
    const rows = [started(), ...Array.from({ length: 40 }, () => large)];
    await store.log.append(creation(runA, { rows }));
    const other = { tenant: 'other', contextId: `${context}x` as typeof context, originRunId: runB };
    await store.log.append(creation(runB, { create: other }));
    let turns = 0;
    let timer = setImmediate(function count() {
      turns += 1;
      timer = setImmediate(count);
    });
    const order: string[] = [];
    const readers = Array.from({ length: 10 }, async () => {
      await rowsOf(store, runA);
      order.push('large');
    });
    const small = rowsOf(store, runB).then(() => order.push('small'));
    await Promise.all([...readers, small]);
    clearImmediate(timer);
    // 80 MB in turns of at most one budget and one page.
    expect(turns).toBeGreaterThan(40);
    expect(order[0]).toBe('small');
  });
});

test('reads that wait for their turn fail when the store closes', async () => {
  await withStore(async (store) => {
    await store.log.append(creation(runA, { rows: [started(), ...Array.from({ length: 10 }, () => large)] }));
    const reads = Array.from({ length: 5 }, () => store.log.read({ runId: runA, after: -1, limit: 100 }));
    const ends = Promise.allSettled(reads);
    await store.close();
    expect((await ends).map(({ status }) => status)).toContain('rejected');
  });
});

async function withStore(use: (store: SqliteStore) => Promise<void>): Promise<void> {
  const store = await opened();
  try {
    await use(store);
  } finally {
    await store.close();
  }
}
