/** An overview asks for the artifacts of hundreds of contexts, so that each costs one query. */
import { expect, onTestFinished, test } from 'vitest';
import type { NewRow } from '../../ports/rows.ts';
import { context, creation, row, runA } from '../../ports/samples.kit.ts';
import { connect, Database, type Queries } from '../database.ts';
import { KnownTenants } from '../known-tenants.ts';
import { Readers } from '../readers.ts';
import { elapsedMs, freshDatabase } from '../server.kit.ts';
import { openPostgresStore } from '../store.ts';
import { postgresArtifacts } from './artifacts.ts';

const chunk = (artifactId: string, version: number, complete: boolean): NewRow => {
  const payload = { artifactId, version, index: 0, complete, data: 'ab', bytes: 2 };
  return row('cairn.artifact.chunk', { payload: JSON.stringify(payload) });
};

test('a context with many artifacts is listed with one query', { timeout: 60_000 }, async () => {
  const url = await freshDatabase();
  const store = await openPostgresStore({ url, connections: 1, elapsedMs });
  onTestFinished(() => store.close());
  await store.log.append(creation(runA));
  const names = ['a', 'b', 'c', 'd'];
  const claim = (artifactId: string) =>
    store.artifacts.claim({
      ...{ runId: runA, contextId: context, artifactId, family: 'file' as const },
      ...{ writer: { life: 'one', callId: 'call' }, at: 1_000 },
    });
  for (const name of names) {
    await claim(name);
    await store.log.append({ runId: runA, rows: [chunk(name, 1, true)] });
  }
  await claim('b');
  await store.log.append({ runId: runA, rows: [chunk('b', 2, false)] });

  const pool = connect({ url, connections: 1 });
  onTestFinished(() => pool.end(0));
  const database = new Database(pool);
  let asked = 0;
  const counting: Queries = {
    rows: (text, values) => {
      asked += 1;
      return database.rows(text, values);
    },
    changed: (text, values) => database.changed(text, values),
  };
  const readers = new Readers({
    ...{ each: 1, together: 1, database: { of: () => counting } },
    ...{ tenants: new KnownTenants(), nextTurn: setImmediate },
  });
  const listed = await postgresArtifacts(database, readers).list(context, { limit: 3 });
  const versions = listed.map(({ current, open }) => [current?.artifactId, current?.version, open?.version]);
  expect(versions).toEqual([
    ['a', 1, undefined],
    ['b', 1, 2],
    ['c', 1, undefined],
  ]);
  expect(asked).toBe(1);
});
