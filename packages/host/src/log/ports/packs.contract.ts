/** What every store promises of packs: the version installed last, by tenant, and a version that never changes. */
import { expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import type { PackRecord } from './packs.ts';

export function packsContract(open: Open<'packs'>): void {
  const store = eachStore(open);
  const pack = (fields: Partial<PackRecord>): PackRecord => ({
    tenant: 't',
    name: 'vendor.acme.desk',
    version: '1.0.0',
    hash: 'h1',
    installedAt: 1_000,
    body: '{"é":"😀"}',
    ...fields,
  });
  const first = pack({});
  const second = pack({ version: '2.0.0', hash: 'h2' });

  it('lists the version installed last of each, by name, per tenant', async () => {
    const other = pack({ name: 'vendor.acme.base' });
    for (const record of [first, second, other, pack({ tenant: 'other', hash: 'h9' })]) await store().packs.put(record);
    expect(await store().packs.list('t')).toEqual([other, second]);
    await store().packs.put({ ...first, installedAt: 2_000 });
    expect(await store().packs.list('t')).toEqual([other, { ...first, installedAt: 2_000 }]);
    expect(await store().packs.list('nobody')).toEqual([]);
  });

  it('refuses a version that was ever there with other content', async () => {
    await store().packs.put(first);
    const changed = pack({ hash: 'h9' });
    await expect(store().packs.put(changed)).rejects.toMatchObject({ code: 'conflict' });
    await store().packs.drop('t', first.name);
    await expect(store().packs.put(changed)).rejects.toMatchObject({ code: 'conflict' });
    expect(await store().packs.list('t')).toEqual([]);
    await store().packs.put(first);
    expect(await store().packs.list('t')).toEqual([first]);
  });

  it('removes a pack in all versions, by their tenant alone', async () => {
    for (const record of [first, second]) await store().packs.put(record);
    expect(await store().packs.drop('other', first.name)).toBe(false);
    expect(await store().packs.drop('t', 'vendor.acme.base')).toBe(false);
    expect(await store().packs.list('t')).toEqual([second]);
    expect(await store().packs.drop('t', first.name)).toBe(true);
    expect(await store().packs.list('t')).toEqual([]);
    expect(await store().packs.drop('t', first.name)).toBe(false);
  });
}
