import { expect, it } from 'vitest';
import { connect, Database } from '../database.ts';
import { sharedPostgres } from '../server.kit.ts';
import { scalars, texts } from './array-literal.ts';

it('gives Postgres every text and number as it was', async () => {
  const pool = connect({ url: (await sharedPostgres()).url('postgres'), connections: 1 });
  const database = new Database(pool);
  const values = ['', 'NULL', null, 'a,b}{', '"\\" \\\\', 'line\nand\ttab\r', 'nul \u0000 and \u0001', '\u007f é 🪨'];
  const found = await database.rows<[string | null]>('SELECT unnest($1::text[])', [texts(values)]);
  expect(found.map(([value]) => value)).toEqual(values);
  const numbers = [0, -1, null, Number.MAX_SAFE_INTEGER];
  const counted = await database.rows<[number | null]>('SELECT unnest($1::bigint[])', [scalars(numbers)]);
  expect(counted.map(([value]) => value)).toEqual(numbers);
  expect(await database.rows('SELECT unnest($1::text[])', [texts([])])).toEqual([]);
  await pool.end();
});
