import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { connect, Database } from './database.ts';
import { sharedPostgres } from './server.kit.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
const usedMb = () => getHeapStatistics().used_heap_size / 1_048_576;

it('lets go of what a statement brought and found, before the next full collection', async () => {
  const pool = connect({ url: (await sharedPostgres()).url('postgres'), connections: 1, deadlineMs: 30_000 });
  const database = new Database(pool);
  const send = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const text = [n, 'x'.repeat(40_000)].join();
      await database.rows('SELECT length($1::text)', [text]);
      await database.changed('SELECT length($1::text)', [text]);
      await database.rows("SELECT $1::text || repeat('x', 40000)", [String(n)]);
      if (n % 10 === 9) collect({ type: 'minor' });
    }
  };
  await send(20);
  collect();
  const before = usedMb();
  await send(200);
  // That was 24 MB.
  expect(usedMb() - before).toBeLessThan(4);
  await pool.end();
});
