/** The index can be lost or wrong: a rebuild makes it say what the rows say. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { asked, creation, resolved, row, runA, runB, started } from '../samples.contract.ts';
import { folders, open } from './folders.contract.ts';

const { fresh } = folders();

describe('a damaged index', () => {
  it.each([
    ['a wrong status', "UPDATE runs SET status = 'completed', ended_at = 5 WHERE id = 'run_a'"],
    ['a wrong workflow and principal', "UPDATE runs SET workflow = 'x', principal = NULL WHERE id = 'run_a'"],
    ['lost interrupts', 'DELETE FROM interrupts'],
    ['an interrupt that shows open', "UPDATE interrupts SET open = 1 WHERE id = 'i1'"],
    ['wrong tags', `UPDATE runs SET tags = '["blue"]' WHERE id = 'run_a'`],
    ['a lost end', "UPDATE runs SET status = 'running', ended_at = NULL, wake_at = 1 WHERE id = 'run_b'"],
  ])('with %s is repaired from the rows', async (_, damage) => {
    const folder = fresh();
    const store = await open(folder);
    await store.log.append(creation(runA, { rows: [started(), asked('i1'), resolved('i1'), asked('i2')] }));
    await store.log.append(creation(runB, { rows: [started(), row('run.completed')] }));
    const picture = async ({ log, queue }: typeof store) => [
      await log.list({ tenant: 't', limit: 9 }),
      await log.list({ tenant: 't', tag: 'red', limit: 9 }),
      await log.interrupts(runA),
      await queue.due(),
    ];
    const before = await picture(store);
    await store.close();
    const db = new DatabaseSync(join(folder, 'cairn.db'));
    db.exec(damage);
    db.close();
    const damaged = await open(folder);
    expect(await picture(damaged)).not.toEqual(before);
    expect(await damaged.log.rebuild()).toEqual({ runs: 2, repaired: 1 });
    expect(await picture(damaged)).toEqual(before);
    expect(await damaged.log.rebuild()).toEqual({ runs: 2, repaired: 0 });
    await expect(damaged.log.append({ runId: runA, answers: 'i2', rows: [resolved('i2')] })).resolves.toBeDefined();
    await damaged.close();
  });
});
