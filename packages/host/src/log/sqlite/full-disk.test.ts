/** A disk that fills up refuses appends by name, loses nothing, and the store goes on when there is room. */
import type { RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { verifyChain } from '../chain.ts';
import { creation, row, runA, runB } from '../ports/samples.kit.ts';
import { database, folders } from './folder/folders.kit.ts';
import { assembleStore } from './store.ts';

const { fresh } = folders();

/** A store whose file may only have so many pages, which SQLite reports as it reports a full disk. */
function small() {
  const { db, file } = database(fresh());
  const pages = (): number => Number(db.prepare('PRAGMA page_count').get()?.page_count);
  const limit = (count: number): void => db.exec(`PRAGMA max_page_count = ${count}`);
  const onFault = (error: unknown): void => {
    throw error;
  };
  return {
    store: assembleStore({ db, file, onFault, closed: () => {} }),
    fill: () => limit(pages()),
    makeRoom: () => limit(1e6),
  };
}

const big = (seq?: number) => ({
  runId: runA,
  at: seq,
  rows: Array.from({ length: 4 }, () => row('a', { payload: JSON.stringify('x'.repeat(3_000)) })),
});

describe('a full disk', () => {
  it('refuses what does not fit as store_full, to be tried again', async () => {
    const { store, fill } = small();
    await store.log.append(creation(runA));
    fill();
    await expect(store.log.append(big())).rejects.toMatchObject({
      code: 'store_full',
      retryable: true,
      message: expect.stringContaining('cairn.db'),
    });
    expect((await store.log.head(runA))?.seq).toBe(0);
    expect((await rowsOf(store, runA)).length).toBe(1);
    await store.close();
  });

  it('fails every append of the transaction alike, and tells no follower', async () => {
    const { store, fill } = small();
    await store.log.append(creation(runA));
    const told: RunId[] = [];
    store.log.follow((commit) => told.push(commit.runId));
    fill();
    const results = await Promise.allSettled([
      store.log.append({ runId: runA, rows: [row('small')] }),
      store.log.append(big()),
      store.log.append({ runId: runA, at: 99, rows: [row('refused anyway')] }),
      store.log.append(creation(runB)),
    ]);
    expect(results.map((r) => r.status === 'rejected' && r.reason.code)).toEqual(Array(4).fill('store_full'));
    expect(told).toEqual([]);
    expect(await store.log.head(runB)).toBeNull();
    await store.close();
  });

  it('goes on by itself when there is room, with dense places and a whole chain', async () => {
    const { store, fill, makeRoom } = small();
    await store.log.append(creation(runA));
    fill();
    await expect(store.log.append(big())).rejects.toMatchObject({ code: 'store_full' });
    makeRoom();
    await expect(store.log.append(big(1))).resolves.toMatchObject({ seq: 1 });
    await store.log.append(creation(runB));
    const rows = await rowsOf(store, runA);
    expect(rows.map((stored) => stored.seq)).toEqual([0, 1, 2, 3, 4]);
    expect(verifyChain(rows, runA)).toBeNull();
    await store.close();
  });
});
