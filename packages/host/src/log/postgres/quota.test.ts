/** The quota of a tenant is one for all nodes on a database. */
import { expect, onTestFinished, test } from 'vitest';
import { creation, row, runA, runB } from '../ports/samples.kit.ts';
import { connect, Database } from './database.ts';
import { elapsedMs, freshDatabase } from './server.kit.ts';
import { openPostgresStore } from './store.ts';

test('a tenant that fills its quota at one node is refused at all, with events and with blobs', {
  timeout: 60_000,
}, async () => {
  const url = await freshDatabase();
  const open = async () => {
    const store = await openPostgresStore({ url, connections: 1, elapsedMs });
    onTestFinished(() => store.close());
    return store;
  };
  const [a, b, c] = [await open(), await open(), await open()];
  const maxTenantBytes = 100_000;
  const note = (size: number) => [row('log.appended', { payload: JSON.stringify({ text: 'x'.repeat(size) }) })];
  const refused = { code: 'quota_exceeded' };
  await a.log.append(creation(runA, { maxTenantBytes }));
  await b.log.append(creation(runB, { maxTenantBytes }));
  await a.log.append({ runId: runA, rows: note(98_000), maxTenantBytes });
  await expect(a.log.append({ runId: runA, rows: note(2_000), maxTenantBytes })).rejects.toMatchObject(refused);
  // A node that never asked, and one that knows the tenant from before the other filled its quota.
  await expect(c.log.append({ runId: runB, rows: note(2_000), maxTenantBytes })).rejects.toMatchObject(refused);
  const late = await b.log.append({ runId: runB, rows: note(2_000), maxTenantBytes }).catch((error: unknown) => error);
  if (!(late instanceof Error))
    await expect(b.log.append({ runId: runB, rows: note(2_000), maxTenantBytes })).rejects.toMatchObject(refused);
  const bytes = new Uint8Array(2_000);
  for (const store of [a, b, c])
    await expect(store.blobs.put({ tenant: 't', bytes, at: 1, maxTenantBytes })).rejects.toMatchObject(refused);
});

test('a start puts together what processes of the past counted, and leaves the bytes of every tenant as they are', async () => {
  const url = await freshDatabase();
  const pool = connect({ url, connections: 1 });
  const database = new Database(pool);
  const counts = () =>
    database.rows<[string, number, number]>(
      'SELECT tenant, count(*), sum(log_bytes + blob_bytes)::bigint FROM cairn.usage GROUP BY tenant ORDER BY tenant',
    );
  await database.changed(`INSERT INTO cairn.usage (tenant, writer, lane, log_bytes, blob_bytes)
    SELECT t, w, l, 100 * w, l FROM unnest(ARRAY['t', 'u']) t, generate_series(1, 200) w, generate_series(0, 1) l`);
  await database.rows("SELECT setval('cairn.writers', 200)");
  const [[, , bytes] = ['', 0, 0]] = await counts();
  for (let start = 0; start < 2; start += 1) {
    const store = await openPostgresStore({ url, connections: 1, elapsedMs });
    await store.close();
  }
  expect(bytes).toBeGreaterThan(4_000_000);
  for (const [tenant, rows, sum] of await counts()) expect([tenant, rows < 40, sum]).toEqual([tenant, true, bytes]);
  await pool.end();
});
