import { RetryableError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { IdempotencyRecords } from '../../log/ports/idempotency.ts';
import { claimOf, HeldClaim, IDEMPOTENCY_LEASE_MS, RENEWED_FOR_MS } from './held-claim.ts';

const key = { tenant: 't', endpoint: 'POST /v1/things', key: 'k', requestDigest: 'd', owner: 'a' };

/** A claim whose timer fires when the test says so. */
async function held(renew: IdempotencyRecords['claim']) {
  let now = 1_000;
  const timers: (() => void)[] = [];
  const reports: string[] = [];
  const claim = new HeldClaim(claimOf(key, now), {
    idempotency: { claim: renew },
    now: () => now,
    timers: {
      after: (_, wake) => {
        timers.push(wake);
        return () => void timers.splice(timers.indexOf(wake), 1);
      },
    },
    report: ({ event }) => void reports.push(event),
  });
  const pass = async () => {
    now += IDEMPOTENCY_LEASE_MS / 3;
    timers.shift()?.();
    await new Promise(setImmediate);
  };
  return { claim, timers, reports, pass };
}

test('a claim is renewed again after a renewal that failed, and not for ever', async () => {
  let renewals = 0;
  const { timers, reports, pass } = await held(async () => {
    renewals += 1;
    if (renewals === 2) throw new RetryableError('store_failed', { message: 'The database is away.' });
    return null;
  });
  for (let third = 0; third < 100; third += 1) await pass();
  expect(reports).toEqual(['idempotency.renewal_failed']);
  expect(renewals).toBe((RENEWED_FOR_MS / IDEMPOTENCY_LEASE_MS) * 3 - 1);
  expect(timers).toEqual([]);
});

test('a claim that another node got is not renewed any more', async () => {
  const { idempotency } = inMemoryStore();
  await idempotency.claim(claimOf({ ...key, owner: 'b' }, 1_000_000));
  const { timers, pass } = await held(idempotency.claim);
  await pass();
  expect(timers).toEqual([]);
});

test('a claim that is given back is not made anew by a renewal on its way', async () => {
  const { idempotency } = inMemoryStore();
  const claim = claimOf(key, 1_000);
  await idempotency.claim(claim);
  const gate = Promise.withResolvers<void>();
  const {
    claim: mine,
    timers,
    pass,
  } = await held(async (renewal) => {
    await gate.promise;
    return idempotency.claim(renewal);
  });
  await pass();
  const dropped = mine.end().then(() => idempotency.drop(claim));
  gate.resolve();
  await dropped;
  expect(await idempotency.get(key)).toBeNull();
  expect(timers).toEqual([]);
});
