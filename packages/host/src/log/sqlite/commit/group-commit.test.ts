/** Appends share transactions, large ones are split, the WAL stays small, and a run outside the cache is found again. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { rowsOf } from '../../../../test/kit/rows-of.ts';
import { verifyChain } from '../../chain.ts';
import { creation, row, runA } from '../../ports/samples.kit.ts';
import { folders, open } from '../folder/folders.kit.ts';

const { fresh } = folders();
const runs = (count: number): RunId[] => Array.from({ length: count }, (_, i) => `run_${i}` as RunId);

describe('group commit', () => {
  it('writes appends of one turn in one transaction', async () => {
    const store = await open(fresh());
    await Promise.all(runs(50).map((runId) => store.log.append(creation(runId))));
    expect(store.stats()).toEqual({ commits: 1, rows: 50 });
    await store.close();
  });

  it('splits what is too much for one transaction, and lets the event loop turn between', async () => {
    const store = await open(fresh());
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < 1_000) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(runs(1_000).map((runId) => store.log.append(creation(runId))));
    expect(store.stats().commits).toBeGreaterThanOrEqual(4);
    expect(turns).toBeGreaterThanOrEqual(3);
    turns = 1_000;
    const large = row('a', { payload: JSON.stringify('x'.repeat(700_000)) });
    const before = store.stats().commits;
    await Promise.all(runs(3).map((runId) => store.log.append({ runId, rows: [large] })));
    expect(store.stats().commits - before).toBe(3);
    await store.close();
  });

  it('writes a run that changed many times in one transaction once, and as it ended up', async () => {
    const store = await open(fresh());
    const ended = [
      store.log.append(creation(runA, { claim: { owner: 'n', now: 0, until: 9 } })),
      store.log.append({ runId: runA, rows: [row('run.paused')] }),
      store.log.append({ runId: runA, rows: [row('run.resumed')], rest: { wakeAt: 5 } }),
    ];
    await Promise.all(ended);
    expect((await store.runIndex.list({ tenant: 't', status: 'running', limit: 9 })).runs.length).toBe(1);
    expect(await store.queue.due()).toBe(5);
    await store.close();
  });
});

describe('the write-ahead log', () => {
  it('stays near its limit under load, and nothing is lost', async () => {
    const folder = fresh();
    const store = await open(folder);
    await store.log.append(creation(runA));
    const payload = JSON.stringify('x'.repeat(400_000));
    let largest = 0;
    for (let round = 0; round < 30; round += 1) {
      const appends = Array.from({ length: 16 }, () =>
        store.log.append({ runId: runA, rows: [row('a', { payload })] }),
      );
      await Promise.all(appends);
      largest = Math.max(largest, statSync(join(folder, 'cairn.db-wal')).size);
    }
    expect(largest).toBeLessThan(128 * 1_048_576);
    expect(statSync(join(folder, 'cairn.db')).size).toBeGreaterThan(80 * 1_048_576);
    const rows = await rowsOf(store, runA);
    expect(rows.length).toBe(481);
    expect(verifyChain(rows, runA)).toBeNull();
    await store.close();
  });
});

describe('a run outside the cache', () => {
  it('keeps the lease it took earlier in the same transaction when the cache turns over in between', async () => {
    const store = await open(fresh());
    const all = runs(5_020);
    await Promise.all(all.slice(0, 4_990).map((runId) => store.log.append(creation(runId))));
    const first = present(all[0]);
    const claim = { owner: 'a', now: 1_000, until: 9_000 };
    const before = store.stats().commits;
    const [taken, ...rest] = await Promise.all([
      store.log.append({ runId: first, at: 1, rows: [row('a')], claim }),
      ...all.slice(4_990).map((runId) => store.log.append(creation(runId))),
      store.log.append({ runId: first, at: 2, rows: [row('b')], fence: 1 }),
    ]);
    expect(store.stats().commits).toBe(before + 1);
    expect(taken.fence).toBe(1);
    expect(rest.at(-1)).toMatchObject({ seq: 2, fence: 1 });
    await store.close();
  });

  it('is written and read as if it had never left', async () => {
    const store = await open(fresh());
    const all = runs(10_100);
    await Promise.all(all.map((runId) => store.log.append(creation(runId))));
    const first = present(all[0]);
    await expect(store.log.append({ runId: first, at: 1, rows: [row('a')] })).resolves.toMatchObject({ seq: 1 });
    await expect(store.log.append(creation(present(all[1])))).rejects.toMatchObject({ code: 'conflict' });
    expect(verifyChain(await rowsOf(store, first), first)).toBeNull();
    await store.close();
  });
});
