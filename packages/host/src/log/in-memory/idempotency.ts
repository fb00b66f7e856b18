/** In-memory idempotency records. Appends write them too, so the store owns the table. */
import { idempotencyRefused } from '../errors.ts';
import {
  EXPIRED_AT_ONCE,
  type IdempotencyRecords,
  type IdempotencyWrite,
  mayClaim,
  maySave,
  pendingRecord,
} from '../ports/idempotency.ts';
import { idempotencyId, type Tables } from './tables.ts';

export function inMemoryIdempotency(tables: Tables): IdempotencyRecords {
  const { idempotency } = tables;
  return {
    async get(key) {
      tables.assertOpen();
      return idempotency.get(idempotencyId(key)) ?? null;
    },
    async claim(claim) {
      tables.assertOpen();
      const existing = idempotency.get(idempotencyId(claim));
      if (existing !== undefined && !mayClaim(existing, claim)) return existing;
      idempotency.set(idempotencyId(claim), pendingRecord(claim));
      return null;
    },
    async save({ record, owner }) {
      tables.assertOpen();
      const id = idempotencyId(record);
      if (maySave(idempotency.get(id) ?? null, owner)) idempotency.set(id, record);
    },
    async drop(claim) {
      tables.assertOpen();
      const id = idempotencyId(claim);
      const existing = idempotency.get(id);
      if (existing?.state === 'pending' && existing.owner === claim.owner) idempotency.delete(id);
    },
    async expireSome(before) {
      tables.assertOpen();
      const old = [...idempotency]
        .filter(([, record]) => record.at < before)
        .sort(([, a], [, b]) => a.at - b.at)
        .slice(0, EXPIRED_AT_ONCE);
      for (const [id] of old) idempotency.delete(id);
      return old.length;
    },
  };
}

/** Throws if one of these records may not be written. */
export function checkRecords(tables: Tables, idempotency: readonly IdempotencyWrite[]): void {
  for (const one of idempotency) {
    if (!maySave(tables.idempotency.get(idempotencyId(one.record)) ?? null, one.owner)) throw idempotencyRefused(one);
  }
}
