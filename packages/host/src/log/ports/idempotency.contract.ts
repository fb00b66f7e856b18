/** What every store promises of idempotency records: one owner of a claim at a time, a claim that ends, a record that stays. */
import type { RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { eachStore, type Open, type Ports } from './contract.kit.ts';
import type { Append } from './event-log.ts';
import { EXPIRED_AT_ONCE, type IdempotencyClaim, type IdempotencyRecord } from './idempotency.ts';
import { creation, row, runA, runB } from './samples.kit.ts';

const request = { tenant: 't', endpoint: 'POST /v1/x', key: 'k"1', requestDigest: 'sha' };

const claimOf = (owner: string, now: number, more: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
  ...request,
  owner,
  now,
  until: now + 100,
  ...more,
});

const saved = (state: IdempotencyRecord['state'], more: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
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

export function idempotencyContract(open: Open<'log' | 'idempotency'>): void {
  const store = eachStore(open);
  describe('on their own', () => alone(store));
  describe('saved by an append', () => withAppends(store));
}

function alone(store: () => Ports<'idempotency'>): void {
  const records = () => store().idempotency;
  const existing = () => records().get(request);

  it('gives a request to one of two who ask at once', async () => {
    const claims = [claimOf('a', 0), claimOf('b', 0)];
    const answers = await Promise.all(claims.map((claim) => records().claim(claim)));
    const found = answers.map((answer) => answer?.owner ?? null);
    // Which of them is first depends on the store.
    const owner = found[0] === null ? 'a' : 'b';
    expect(found).toEqual(owner === 'a' ? [null, 'a'] : ['b', null]);
    expect(await existing()).toMatchObject({ state: 'pending', owner, until: 100, requestDigest: 'sha' });
  });

  it('keeps requests of other tenants, operations and keys apart', async () => {
    expect(await records().claim(claimOf('a', 0))).toBeNull();
    for (const other of [{ tenant: 'u' }, { endpoint: 'POST /v1/y' }, { key: 'k2' }]) {
      expect(await records().claim(claimOf('b', 0, other))).toBeNull();
    }
  });

  it('gives a request on when its owner let the lease end, and only for the same content', async () => {
    await records().claim(claimOf('dead', 0));
    expect(await records().claim(claimOf('b', 99))).toMatchObject({ owner: 'dead' });
    expect(await records().claim(claimOf('b', 100, { requestDigest: 'other' }))).toMatchObject({
      requestDigest: 'sha',
    });
    expect(await records().claim(claimOf('b', 100))).toBeNull();
    expect(await existing()).toMatchObject({ owner: 'b', until: 200 });
  });

  it('lets its owner renew a claim, but not take back what was given on or has an outcome', async () => {
    await records().claim(claimOf('a', 0));
    expect(await records().claim(claimOf('a', 60))).toBeNull();
    expect(await records().claim(claimOf('b', 159))).toMatchObject({ owner: 'a', until: 160 });
    expect(await records().claim(claimOf('b', 160))).toBeNull();
    expect(await records().claim(claimOf('a', 161))).toMatchObject({ owner: 'b' });
    await records().save({ record: saved('completed'), owner: 'b' });
    expect(await records().claim(claimOf('b', 162))).toEqual(saved('completed'));
  });

  it('keeps the outcome of the owner, not of one whose request was given on', async () => {
    await records().claim(claimOf('late', 0));
    await records().claim(claimOf('b', 100));
    await records().save({ record: saved('completed', { body: 'late' }), owner: 'late' });
    expect(await existing()).toMatchObject({ state: 'pending', owner: 'b' });
    await records().save({ record: saved('completed'), owner: 'b' });
    expect(await existing()).toEqual(saved('completed'));
    await records().save({ record: saved('completed', { body: 'twice' }), owner: 'b' });
    expect(await existing()).toEqual(saved('completed'));
  });

  it('stands by a final outcome, however late somebody asks', async () => {
    for (const state of ['completed', 'terminal-failure'] as const) {
      const key = `k-${state}`;
      await records().claim(claimOf('a', 0, { key }));
      await records().save({ record: saved(state, { key }), owner: 'a' });
      expect(await records().claim(claimOf('b', 1e9, { key }))).toEqual(saved(state, { key }));
    }
  });

  it('lets a request that failed for a while be taken in hand again', async () => {
    await records().claim(claimOf('a', 0));
    await records().save({ record: saved('retryable-failure'), owner: 'a' });
    expect(await records().claim(claimOf('b', 1, { requestDigest: 'other' }))).not.toBeNull();
    expect(await records().claim(claimOf('b', 1))).toBeNull();
  });

  it('keeps an outcome without an owner only where nothing stands', async () => {
    await records().save({ record: saved('terminal-failure'), owner: null });
    await records().save({ record: saved('completed', { body: 'second' }), owner: null });
    expect(await existing()).toEqual(saved('terminal-failure'));
  });

  it('forgets a request for its owner alone, and never an outcome', async () => {
    await records().claim(claimOf('a', 0));
    await records().drop(claimOf('b', 0));
    expect(await existing()).not.toBeNull();
    await records().drop(claimOf('a', 0));
    expect(await existing()).toBeNull();
    await records().claim(claimOf('a', 0));
    await records().save({ record: saved('completed'), owner: 'a' });
    await records().drop(claimOf('a', 0));
    expect(await existing()).not.toBeNull();
  });
}

function withAppends(store: () => Ports<'log' | 'idempotency'>): void {
  const answer: IdempotencyRecord = {
    tenant: 't',
    endpoint: 'POST /v1/runs',
    key: 'k"1',
    requestDigest: 'sha',
    state: 'completed',
    owner: null,
    until: null,
    status: 201,
    headers: '{}',
    body: '{"runId":"run_a"}',
    at: 1_000,
  };
  const recorded = (runId: RunId): Append => creation(runId, { idempotency: [{ record: answer, owner: null }] });
  const read = (key: string, tenant = 't') => store().idempotency.get({ tenant, endpoint: answer.endpoint, key });

  it('are there with the append that caused them, for their tenant only', async () => {
    expect(await read('k"1')).toBeNull();
    await store().log.append(recorded(runA));
    expect(await read('k"1')).toEqual(answer);
    expect(await read('k"1', 'other')).toBeNull();
    expect(await read('k2')).toBeNull();
  });

  it('let only one of two appends with the same key through', async () => {
    const results = await Promise.allSettled([store().log.append(recorded(runA)), store().log.append(recorded(runB))]);
    expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected']);
    expect(results[1]).toMatchObject({ reason: { code: 'conflict' } });
    expect(await store().log.head(runB)).toBeNull();
  });

  it('are not kept when their append is refused', async () => {
    await store().log.append(creation(runA));
    await expect(store().log.append(recorded(runA))).rejects.toMatchObject({ code: 'conflict' });
    expect(await read('k"1')).toBeNull();
  });

  it('of requests that were taken in hand are settled by the append, several at once', async () => {
    const claimed = ['k1', 'k2'].map((key) => ({ record: { ...answer, key }, owner: `owner of ${key}` }));
    for (const { record, owner } of claimed) {
      expect(await store().idempotency.claim({ ...record, owner, now: 0, until: 100 })).toBeNull();
    }
    await store().log.append(creation(runA, { idempotency: claimed }));
    for (const { record, owner } of claimed) {
      expect(await read(record.key)).toEqual(record);
      await store().idempotency.save({ record: { ...record, body: 'late' }, owner });
      expect(await read(record.key)).toEqual(record);
    }
  });

  it("of a request that is no longer its owner's are refused, and the whole append with them", async () => {
    const { idempotency, log } = store();
    await log.append(creation(runA));
    const claim = (owner: string, now: number) => idempotency.claim({ ...answer, owner, now, until: now + 100 });
    await claim('slow', 0);
    await claim('next', 100);
    const append = (owner: string) =>
      log.append({ runId: runA, rows: [row('node.started')], idempotency: [{ record: answer, owner }] });
    const inFlight = { code: 'idempotency_in_flight', retryable: true, details: { retryAfter: 1 } };
    await expect(append('slow')).rejects.toMatchObject(inFlight);
    expect([(await log.head(runA))?.seq, await read('k"1')]).toMatchObject([0, { state: 'pending', owner: 'next' }]);
    await append('next');
    expect([(await log.head(runA))?.seq, await read('k"1')]).toEqual([1, answer]);
    await expect(append('next')).rejects.toMatchObject(inFlight);
    expect((await log.head(runA))?.seq).toBe(1);
  });

  it('are forgotten some at a time, the oldest first', async () => {
    const { idempotency } = store();
    const named = (at: number) => ({ ...answer, key: `k${at}`, at });
    for (let at = 0; at < EXPIRED_AT_ONCE + 10; at += 1) {
      await idempotency.save({ record: named(at), owner: null });
    }
    expect(await idempotency.expireSome(1_000_000)).toBe(EXPIRED_AT_ONCE);
    expect(await idempotency.get(named(EXPIRED_AT_ONCE - 1))).toBeNull();
    expect(await idempotency.get(named(EXPIRED_AT_ONCE))).not.toBeNull();
    expect(await idempotency.expireSome(1_000_000)).toBe(10);
    expect(await idempotency.expireSome(1_000_000)).toBe(0);
  });

  it('are forgotten when they are old, and can be written again', async () => {
    await store().log.append(recorded(runA));
    expect(await store().idempotency.expireSome(1_000)).toBe(0);
    expect(await store().idempotency.expireSome(1_001)).toBe(1);
    expect(await read('k"1')).toBeNull();
    await store().log.append(recorded(runB));
    expect(await read('k"1')).toEqual(answer);
  });
}
