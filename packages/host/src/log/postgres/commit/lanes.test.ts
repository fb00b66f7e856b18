/** Two batches are under way at a time: one that waits in the database holds up its own runs, and no others. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Appended, EventLog } from '../../ports/event-log.ts';
import type { NewRow } from '../../ports/rows.ts';
import { creation, row, runA, runB } from '../../ports/samples.kit.ts';
import { connect, Database } from '../database.ts';
import { elapsedMs, freshDatabase } from '../server.kit.ts';
import { openPostgresStore } from '../store.ts';

const begun = (runId: RunId, name: string) =>
  creation(runId, { create: { tenant: name, contextId: `ctx_${name}` as ContextId, originRunId: runId } });

const CONNECTIONS = 4;

const WAITING =
  "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** A store with two runs. While `work` goes on, commits of the first one wait in the database, and one with `rows` does. */
async function whileCommitWaits<Result>(
  rows: readonly NewRow[],
  work: (log: EventLog, first: Promise<Appended>) => Promise<Result>,
): Promise<Result> {
  const url = await freshDatabase();
  const store = await openPostgresStore({ url, connections: CONNECTIONS, elapsedMs });
  const pool = connect({ url, connections: 1 });
  onTestFinished(async () => {
    await store.close();
    await pool.end();
  });
  const { log } = store;
  await log.append(begun(runA, 'a'));
  await log.append(begun(runB, 'b'));
  // The driver opens connections with a timer, which a test may stop: all of them are open before.
  await Promise.all(Array.from({ length: CONNECTIONS }, () => store.changes.lastCursor()));
  const other = new Database(pool);
  return other.transaction(async (queries) => {
    await queries.rows(
      'SELECT 1 FROM cairn.heads h JOIN cairn.runs r ON r.key = h.run WHERE r.id = $1::text FOR UPDATE',
      [runA],
    );
    const first = log.append({ runId: runA, rows });
    for (let waiting = 0; waiting === 0; ) [[waiting] = [0]] = await other.rows<[number]>(WAITING);
    return work(log, first);
  });
}

it('commits other runs while a batch waits, however little, and a run that waits keeps its order', async () => {
  const ended: string[] = [];
  const appended = await whileCommitWaits([row('first')], async (log, first) => {
    void first.then(() => ended.push('first of a'));
    const second = log.append({ runId: runA, rows: [row('second')] });
    void second.then(() => ended.push('second of a'));
    await log.append({ runId: runB, rows: [row('of b')] });
    ended.push('b');
    return { first, second };
  });
  expect(await appended.first).toMatchObject({ seq: 1 });
  expect(await appended.second).toMatchObject({ seq: 2 });
  expect(ended).toEqual(['b', 'first of a', 'second of a']);
});

it('commits little work at once while a large batch waits', async () => {
  const many = Array.from({ length: 96 }, () => row('many'));
  const { first } = await whileCommitWaits(many, async (log, under) => {
    // Nothing passes that is given time.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await log.append({ runId: runB, rows: [row('of b')] });
    vi.useRealTimers();
    return { first: under };
  });
  expect(await first).toMatchObject({ seq: 1 });
});
