/** A database of an earlier program is brought up to date with what its rows say. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { asked, creation, resolved, row, runA, runB, started } from '../../ports/samples.kit.ts';
import { folders, open } from './folders.kit.ts';

const { fresh } = folders();

const vote = (interruptId: string, decidedBy: string) =>
  row('approval.received', { nodeId: 'gate', payload: JSON.stringify({ interruptId, decidedBy, action: 'accept' }) });

/** As the database was before questions had a place and votes. */
function undo(folder: string): void {
  const db = new DatabaseSync(join(folder, 'cairn.db'));
  const name = 'where interrupts were asked, and the votes on them';
  const number = Number(db.prepare('SELECT number FROM migrations WHERE name = ?').get(name)?.number);
  expect(db.prepare('PRAGMA user_version').get()?.user_version).toBe(number);
  db.exec(`ALTER TABLE interrupts DROP COLUMN seq; ALTER TABLE interrupts DROP COLUMN votes;
    DELETE FROM migrations WHERE number = ${number}; PRAGMA user_version = ${number - 1};`);
  db.close();
}

it('finds the place of each question, and the votes on those that are open', async () => {
  const folder = fresh();
  const store = await open(folder);
  const rows = [started(), asked('i1'), vote('i1', 'ada'), resolved('i1'), vote('i1', 'bob'), asked('i2')];
  await store.log.append(creation(runA, { rows: [...rows, vote('i2', 'ada'), vote('i2', 'bob')] }));
  await store.log.append(creation(runB, { rows: [started(), row('node.started'), asked('i1')] }));
  const before = [await store.runIndex.interrupts(runA), await store.runIndex.interrupts(runB)];
  await store.close();
  undo(folder);
  const reopened = await open(folder);
  expect([await reopened.runIndex.interrupts(runA), await reopened.runIndex.interrupts(runB)]).toEqual(before);
  expect(await reopened.runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
  await reopened.close();
});
