/** What a page costs the database is a matter of the page, not of the rows that are left behind it. */
import { expect, it, onTestFinished } from 'vitest';
import { context, creation, row, runA, runB } from '../../ports/samples.kit.ts';
import { connect, Database, type Queries } from '../database.ts';
import { elapsedMs, freshDatabase } from '../server.kit.ts';
import { openPostgresStore } from '../store.ts';
import { readContext, readRun } from './read-rows.ts';

const ROWS = 6_000;

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}

/** The most rows that any step of a plan brought. */
const mostRows = (plan: Plan): number =>
  Math.max(plan['Actual Rows'] * plan['Actual Loops'], ...(plan.Plans ?? []).map(mostRows));

/** Two runs of one context, in a table of which Postgres knows nothing. */
async function explainedQueries() {
  const url = await freshDatabase();
  const store = await openPostgresStore({ url, elapsedMs });
  for (const runId of [runA, runB]) {
    await store.log.append(creation(runId));
    await store.log.append({ runId, rows: Array.from({ length: ROWS / 2 }, () => row('x')) });
  }
  await store.close();
  const pool = connect({ url, connections: 1 });
  onTestFinished(() => pool.end(0));
  const database = new Database(pool);
  const costs: number[] = [];
  const queries: Queries = {
    rows: async (text, values) => {
      const [[plans] = ['[]']] = await database.rows<[string]>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      const [{ Plan: plan }]: [{ Plan: Plan }] = typeof plans === 'string' ? JSON.parse(plans) : plans;
      costs.push(mostRows(plan));
      return database.rows(text, values);
    },
    changed: (text, values) => database.changed(text, values),
  };
  return { queries, most: () => Math.max(...costs) };
}

it('reads of a context and of a run the rows of a page', async () => {
  const { queries, most } = await explainedQueries();
  const page = { limit: 100, maxBytes: 1_000_000 };
  for (const isForTasks of [false, true])
    expect(await readContext(queries, { contextId: context, afterCursor: 10, isForTasks, ...page })).toHaveLength(100);
  expect(await readRun(queries, { runId: runA, after: 10, ...page })).toHaveLength(100);
  expect(most()).toBeLessThanOrEqual(100);
});
