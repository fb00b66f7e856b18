/** The index can be lost or wrong: a rebuild makes it say what the rows say. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { DROPPED, KEPT } from '../memory-changes.ts';
import { asked, context, creation, resolved, row, runA, runB, started } from '../ports/samples.kit.ts';
import { folders, open } from './folder/folders.kit.ts';

const { fresh } = folders();

describe('a damaged index', () => {
  it.each([
    ['a wrong status', "UPDATE runs SET status = 'completed', ended_at = 5 WHERE id = 'run_a'"],
    ['a wrong workflow and principal', "UPDATE runs SET workflow = 'x', principal = NULL WHERE id = 'run_a'"],
    ['lost interrupts', 'DELETE FROM interrupts'],
    ['an interrupt that shows open', "UPDATE interrupts SET open = 1 WHERE id = 'i1'"],
    ['lost tags in the list', 'DELETE FROM run_tags WHERE run = 1'],
    ['a tag with another status', "UPDATE run_tags SET shown = 'failed' WHERE run = 1"],
    ['wrong tags', `UPDATE runs SET tags = '["blue"]' WHERE id = 'run_a'`],
    ['a lost end', "UPDATE runs SET status = 'running', ended_at = NULL, wake_at = 1 WHERE id = 'run_b'"],
  ])('with %s is repaired from the rows', async (_, damage) => {
    const folder = fresh();
    const store = await open(folder);
    await store.log.append(creation(runA, { rows: [started(), asked('i1'), resolved('i1'), asked('i2')] }));
    await store.log.append(creation(runB, { rows: [started(), row('run.completed')] }));
    const picture = async ({ runIndex, queue }: typeof store) => [
      await runIndex.list({ tenant: 't', limit: 9 }),
      await runIndex.list({ tenant: 't', tag: 'red', limit: 9 }),
      await runIndex.list({ tenant: 't', tag: 'red', status: 'waiting-approval', limit: 9 }),
      await runIndex.interrupts(runA),
      await queue.due(),
    ];
    const before = await picture(store);
    await store.close();
    const db = new DatabaseSync(join(folder, 'cairn.db'));
    db.exec(damage);
    db.close();
    const damaged = await open(folder);
    expect(await picture(damaged)).not.toEqual(before);
    expect(await damaged.runIndex.rebuild()).toEqual({ runs: 2, repaired: 1 });
    expect(await picture(damaged)).toEqual(before);
    expect(await damaged.runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
    await expect(damaged.log.append({ runId: runA, answers: 'i2', rows: [resolved('i2')] })).resolves.toBeDefined();
    await damaged.close();
  });
});

describe('a damaged wait of a child', () => {
  it.each([
    ['lost', "UPDATE runs SET child_wait = NULL WHERE id = 'run_a'", 'running'],
    ['wrong', "UPDATE runs SET child_wait = 'waiting-external' WHERE id = 'run_a'", 'waiting-external'],
  ])('that is %s at the parent is repaired from the child', async (_, damage, shown) => {
    const folder = fresh();
    const store = await open(folder);
    await store.log.append(creation(runA));
    const create = { tenant: 't', contextId: context, originRunId: runA, parentRunId: runA };
    await store.log.append(creation(runB, { create, rows: [started(), asked('i1')] }));
    await store.close();
    const db = new DatabaseSync(join(folder, 'cairn.db'));
    db.exec(damage);
    db.close();
    const damaged = await open(folder);
    expect((await damaged.runIndex.shown([runA])).get(runA)).toBe(shown);
    expect(await damaged.runIndex.rebuild()).toEqual({ runs: 2, repaired: 1 });
    expect((await damaged.runIndex.shown([runA])).get(runA)).toBe('waiting-approval');
    expect(await damaged.runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
    await damaged.close();
  });
});

describe('damaged memories', () => {
  const ofMemory = (type: string, memoryId: string) =>
    row(type, {
      audience: 'operator',
      payload: JSON.stringify({ memoryRef: 'notes', memoryId, content: `tea ${memoryId}`, tags: ['x'], turn: 't' }),
    });

  it.each([
    ['lost entries', 'DELETE FROM memory_entries', 1],
    ['an entry that nobody wrote', "UPDATE memory_entries SET content = 'coffee'", 1],
    ['a drop that did not happen', "UPDATE memory_drops SET id = 'a'", 1],
    [
      'lost scopes and all that is in them',
      'DELETE FROM memory_entries; DELETE FROM memory_drops; DELETE FROM memory_scopes',
      1,
    ],
    // Written anew in any case, and so not counted.
    ['lost tags', 'DELETE FROM memory_tags', 0],
    ['lost words', 'DELETE FROM memory_words', 0],
  ])('with %s are repaired from the rows', async (_, damage, repaired) => {
    const folder = fresh();
    const store = await open(folder);
    const rows = [ofMemory(KEPT, 'a'), ofMemory(KEPT, 'b'), ofMemory(DROPPED, 'b')];
    await store.log.append(creation(runA, { rows: [started(), ...rows] }));
    await store.log.append(creation(runB));
    const query = { tenant: 't', memoryRef: 'notes', now: 0, limit: 9 };
    const picture = async ({ memories }: typeof store) => [
      await memories.list(query),
      await memories.list({ ...query, tag: 'x' }),
      await memories.search(query, 'tea'),
    ];
    const before = await picture(store);
    expect(before).toMatchObject([[{ id: 'a' }], [{ id: 'a' }], [{ id: 'a' }]]);
    await store.close();
    const db = new DatabaseSync(join(folder, 'cairn.db'));
    db.exec(damage);
    db.close();
    const damaged = await open(folder);
    expect(await picture(damaged)).not.toEqual(before);
    expect(await damaged.runIndex.rebuild()).toEqual({ runs: 2, repaired });
    expect(await picture(damaged)).toEqual(before);
    expect(await damaged.runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
    await damaged.close();
  });
});
