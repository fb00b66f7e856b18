/** What every store promises of requests in hand: one owner at a time, a lease that ends, outcomes that stand. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { IdempotencyClaim, IdempotencyRecord } from './idempotency.ts';
import type { OpenStore } from './samples.kit.ts';
import type { Store } from './store.ts';

const request = { tenant: 't', endpoint: 'POST /v1/x', key: 'k"1', requestDigest: 'sha' };

const claimOf = (owner: string, now: number, more: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
  ...request,
  owner,
  now,
  until: now + 100,
  ...more,
});

const outcome = (state: IdempotencyRecord['state'], more: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
  ...request,
  state,
  owner: null,
  until: null,
  status: 200,
  headers: '{"location":"/x"}',
  body: '{"ok":true}',
  at: 50,
  ...more,
});

/** Runs the suite against a store that `open` gives empty. */
export function idempotencyContract(open: OpenStore): void {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());
  const records = () => store.records;
  const standing = () => records().idempotency('t', 'POST /v1/x', 'k"1');

  it('gives a request to one of two who ask at once', async () => {
    const claims = [claimOf('a', 0), claimOf('b', 0)];
    const answers = await Promise.all(claims.map((claim) => records().claimIdempotency(claim)));
    expect(answers.map((answer) => answer?.owner ?? null)).toEqual([null, 'a']);
    expect(await standing()).toMatchObject({ state: 'pending', owner: 'a', until: 100, requestDigest: 'sha' });
  });

  it('keeps requests of other tenants, operations and keys apart', async () => {
    expect(await records().claimIdempotency(claimOf('a', 0))).toBeNull();
    for (const other of [{ tenant: 'u' }, { endpoint: 'POST /v1/y' }, { key: 'k2' }]) {
      expect(await records().claimIdempotency(claimOf('b', 0, other))).toBeNull();
    }
  });

  it('gives a request on when its owner let the lease end, and only for the same content', async () => {
    await records().claimIdempotency(claimOf('dead', 0));
    expect(await records().claimIdempotency(claimOf('b', 99))).toMatchObject({ owner: 'dead' });
    expect(await records().claimIdempotency(claimOf('b', 100, { requestDigest: 'other' }))).toMatchObject({
      requestDigest: 'sha',
    });
    expect(await records().claimIdempotency(claimOf('b', 100))).toBeNull();
    expect(await standing()).toMatchObject({ owner: 'b', until: 200 });
  });

  it('keeps the outcome of the owner, not of one whose request was given on', async () => {
    await records().claimIdempotency(claimOf('late', 0));
    await records().claimIdempotency(claimOf('b', 100));
    await records().settleIdempotency(outcome('completed', { body: 'late' }), 'late');
    expect(await standing()).toMatchObject({ state: 'pending', owner: 'b' });
    await records().settleIdempotency(outcome('completed'), 'b');
    expect(await standing()).toEqual(outcome('completed'));
    await records().settleIdempotency(outcome('completed', { body: 'twice' }), 'b');
    expect(await standing()).toEqual(outcome('completed'));
  });

  it('stands by a final outcome, however late somebody asks', async () => {
    for (const state of ['completed', 'terminal-failure'] as const) {
      const key = `k-${state}`;
      await records().claimIdempotency(claimOf('a', 0, { key }));
      await records().settleIdempotency(outcome(state, { key }), 'a');
      expect(await records().claimIdempotency(claimOf('b', 1e9, { key }))).toEqual(outcome(state, { key }));
    }
  });

  it('lets a request that failed for a while be taken in hand again', async () => {
    await records().claimIdempotency(claimOf('a', 0));
    await records().settleIdempotency(outcome('retryable-failure'), 'a');
    expect(await records().claimIdempotency(claimOf('b', 1, { requestDigest: 'other' }))).not.toBeNull();
    expect(await records().claimIdempotency(claimOf('b', 1))).toBeNull();
  });

  it('keeps an outcome without an owner only where nothing stands', async () => {
    await records().settleIdempotency(outcome('terminal-failure'), null);
    await records().settleIdempotency(outcome('completed', { body: 'second' }), null);
    expect(await standing()).toEqual(outcome('terminal-failure'));
  });

  it('forgets a request for its owner alone, and never an outcome', async () => {
    await records().claimIdempotency(claimOf('a', 0));
    await records().dropIdempotency(claimOf('b', 0));
    expect(await standing()).not.toBeNull();
    await records().dropIdempotency(claimOf('a', 0));
    expect(await standing()).toBeNull();
    await records().claimIdempotency(claimOf('a', 0));
    await records().settleIdempotency(outcome('completed'), 'a');
    await records().dropIdempotency(claimOf('a', 0));
    expect(await standing()).not.toBeNull();
  });
}
