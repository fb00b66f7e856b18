/** What a node asks for some clients waits for connections; what it asks for others does not wait behind it. */
import { expect, it, onTestFinished } from 'vitest';
import { creation, row, runA, runB } from '../ports/samples.kit.ts';
import { connect, Database } from './database.ts';
import { elapsedMs, freshDatabase } from './server.kit.ts';
import { openPostgresStore } from './store.ts';

it('answers a start and commits while a hundred pages are read, and reads each of them', async () => {
  const url = await freshDatabase();
  const store = await openPostgresStore({ url, elapsedMs });
  onTestFinished(() => store.close());
  await store.log.append(creation(runA));
  await store.log.append(creation(runB));
  const pool = connect({ url, connections: 1 });
  onTestFinished(() => pool.end(0));
  const pages = await new Database(pool).transaction(async (queries) => {
    // Pages need it, and nothing else here does.
    await queries.changed('LOCK TABLE cairn.tombstones IN ACCESS EXCLUSIVE MODE');
    const reads = Array.from({ length: 100 }, () => store.log.read({ runId: runA, after: -1, limit: 10 }));
    expect(await store.definitions.workflow('t', 'none')).toBeNull();
    await store.log.append({ runId: runB, rows: [row('x')] });
    return reads;
  });
  expect((await Promise.all(pages)).map(({ length }) => length)).toEqual(Array.from({ length: 100 }, () => 1));
});
