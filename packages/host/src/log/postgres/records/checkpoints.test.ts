/** What checkpoints of a busy run cost the database. */
import { expect, it, onTestFinished } from 'vitest';
import { runA } from '../../ports/samples.kit.ts';
import { connect, Database } from '../database.ts';
import { freshDatabase } from '../server.kit.ts';
import { postgresCheckpoints } from './checkpoints.ts';

const at = (seq: number) => ({ runId: runA, seq, format: 'f', body: `{"seq":${seq}}` });

async function freshCheckpoints() {
  const pool = connect({ url: await freshDatabase(), connections: 1 });
  onTestFinished(() => pool.end());
  const database = new Database(pool);
  return { database, checkpoints: postgresCheckpoints(database) };
}

it('does not wait until the database has flushed a checkpoint', async () => {
  const { database, checkpoints } = await freshCheckpoints();
  const unflushed = 'SELECT pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()';
  const answers: unknown[] = [];
  for (let seq = 0; seq < 40; seq += 1) {
    await checkpoints.put(at(seq));
    answers.push(...(await database.rows(unflushed)).flat());
  }
  // The server flushes now and then by itself.
  expect(answers).toContain(true);
});

it('knows the newest checkpoint of a run that it put, and asks for one that another node may have put', async () => {
  const { database, checkpoints } = await freshCheckpoints();
  const asked: string[] = [];
  const { rows } = database;
  database.rows = (text, values) => {
    asked.push(text);
    return rows.call(database, text, values) as never;
  };
  await checkpoints.put(at(1_000));
  await checkpoints.put(at(2_000));
  await checkpoints.put(at(3_000));
  expect(asked).toHaveLength(1);
  await postgresCheckpoints(database).put(at(9_000));
  await checkpoints.put(at(2_500));
  expect(await checkpoints.get(runA)).toEqual(at(9_000));
  expect(await checkpoints.get(runA, 2_999)).toEqual(at(2_000));
});
