import { packVersionExists } from '../errors.ts';
import type { PackRecord, Packs } from '../ports/packs.ts';
import type { Tables } from './tables.ts';

export function inMemoryPacks(tables: Tables): Packs {
  let kept: readonly (PackRecord & { readonly isRemoved: boolean })[] = [];
  const isOf = (tenant: string, name: string) => (one: PackRecord) => one.tenant === tenant && one.name === name;
  return {
    async put(record) {
      tables.assertOpen();
      const isVersion = isOf(record.tenant, record.name);
      const known = kept.find((one) => isVersion(one) && one.version === record.version);
      if (known !== undefined && known.hash !== record.hash) throw packVersionExists(record, known.hash);
      kept = [...kept.filter((one) => one !== known), { ...record, isRemoved: false }];
    },
    async list(tenant) {
      tables.assertOpen();
      const newest = new Map(
        kept.filter((one) => one.tenant === tenant && !one.isRemoved).map((one) => [one.name, one]),
      );
      return [...newest.values()]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ isRemoved: _, ...record }) => record);
    },
    async drop(tenant, name) {
      tables.assertOpen();
      const isVersion = isOf(tenant, name);
      const wasInstalled = kept.some((one) => isVersion(one) && !one.isRemoved);
      kept = kept.map((one) => (isVersion(one) ? { ...one, isRemoved: true } : one));
      return wasInstalled;
    },
  };
}
