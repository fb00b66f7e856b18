import type { ExpiringKey, ExpiringRecord, ExpiringRecords } from '../ports/expiring.ts';
import type { Tables } from './tables.ts';

export function inMemoryExpiring(tables: Tables): ExpiringRecords {
  /** Oldest first. */
  const records = new Map<string, ExpiringRecord>();
  const find = (key: ExpiringKey, now: number): ExpiringRecord | null => {
    tables.assertOpen();
    const found = records.get(idOf(key));
    return found !== undefined && found.expiresAt > now ? found : null;
  };
  const ofOwner = (kind: string, owner: string): ExpiringRecord[] =>
    [...records.values()].filter((one) => one.kind === kind && one.owner === owner);
  return {
    async put(record, { now, maxOfOwner }) {
      tables.assertOpen();
      for (const [id, { expiresAt }] of records) if (expiresAt <= now) records.delete(id);
      records.delete(idOf(record));
      records.set(idOf(record), record);
      const own = ofOwner(record.kind, record.owner).sort((a, b) => a.expiresAt - b.expiresAt);
      for (const one of own.slice(0, Math.max(0, own.length - maxOfOwner))) records.delete(idOf(one));
    },
    get: async (key, now) => find(key, now),
    async take(key, now) {
      const found = find(key, now);
      records.delete(idOf(key));
      return found;
    },
    async count(kind, owner, now) {
      tables.assertOpen();
      return ofOwner(kind, owner).filter(({ expiresAt }) => expiresAt > now).length;
    },
  };
}

const idOf = ({ kind, name }: ExpiringKey): string => JSON.stringify([kind, name]);
