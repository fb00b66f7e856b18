/** The faulty store keeps the contract while no fault is planned, and shows each fault as a caller would meet it. */
import { describe, expect, it } from 'vitest';
import { inMemoryStore } from '../../src/log/in-memory/store.ts';
import type { Commit } from '../../src/log/ports/event-log.ts';
import { creation, row, runA, runB } from '../../src/log/ports/samples.kit.ts';
import { storeContract } from '../../src/log/ports/store.contract.ts';
import { type Fault, faultyStore } from './faulty-store.ts';
import { rowsOf } from './rows-of.ts';

/** A store whose appends meet these faults, one after the other, and then none. */
function planned(...faults: (Fault | null)[]) {
  return { store: faultyStore(inMemoryStore(), (_, number) => faults[number] ?? null) };
}

const fact = { runId: runA, rows: [row('a'), row('b')] };

describe('the faulty store', () => {
  describe('without faults', () => storeContract(() => faultyStore(inMemoryStore(), () => null)));

  it.each(['torn', 'failed'] as const)('leaves nothing of an append that is %s, and goes on', async (fault) => {
    const { store } = planned(null, fault);
    const heard: Commit[] = [];
    await store.log.append(creation(runA));
    store.log.follow((commit) => heard.push(commit));
    await expect(store.log.append(fact)).rejects.toMatchObject({ code: 'store_failed', retryable: true });
    expect((await store.log.head(runA))?.seq).toBe(0);
    expect((await rowsOf(store, runA)).length).toBe(1);
    expect(heard).toEqual([]);
    await expect(store.log.append(fact)).resolves.toMatchObject({ seq: 1 });
  });

  it('has written, and told followers of, an append whose acknowledgement is lost', async () => {
    const { store } = planned(null, 'lost-ack');
    const heard: Commit[] = [];
    await store.log.append(creation(runA));
    store.log.follow((commit) => heard.push(commit));
    await expect(store.log.append({ ...fact, at: 1 })).rejects.toMatchObject({ code: 'store_failed' });
    expect((await rowsOf(store, runA)).map((stored) => stored.type)).toEqual(['run.started', 'a', 'b']);
    expect(heard.length).toBe(1);
    await expect(store.log.append({ ...fact, at: 1 })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('writes a slow append only when told, and others meanwhile', async () => {
    const { store } = planned(null, 'slow');
    await store.log.append(creation(runA));
    let settled = false;
    const slow = store.log.append(fact).finally(() => {
      settled = true;
    });
    await store.log.append(creation(runB));
    expect([store.waiting, settled, (await store.log.head(runA))?.seq]).toEqual([1, false, 0]);
    store.releaseNext();
    await expect(slow).resolves.toMatchObject({ seq: 1 });
    expect(store.waiting).toBe(0);
  });

  it('refuses every append while the disk is full, still reads, and goes on when there is room', async () => {
    const { store } = planned(null, 'full');
    await store.log.append(creation(runA));
    for (const append of [fact, creation(runB)]) {
      await expect(store.log.append(append)).rejects.toMatchObject({ code: 'store_full', retryable: true });
    }
    expect((await rowsOf(store, runA)).length).toBe(1);
    store.makeRoom();
    await expect(store.log.append(fact)).resolves.toMatchObject({ seq: 1 });
  });

  it('writes what was slow before it closes', async () => {
    const { store } = planned('slow');
    const slow = store.log.append(creation(runA));
    await store.close();
    await expect(slow).resolves.toMatchObject({ seq: 0 });
  });
});
