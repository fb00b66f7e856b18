/** What every store promises of expiring records: they end in time, one caller takes each, and an owner has so many. */
import { expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import type { ExpiringRecord } from './expiring.ts';

export function expiringContract(open: Open<'expiring'>): void {
  const store = eachStore(open);
  const record = (fields: Partial<ExpiringRecord> = {}): ExpiringRecord => ({
    kind: 'link',
    name: 'a',
    owner: 't',
    body: '{"é":1}',
    expiresAt: 100,
    ...fields,
  });
  const put = (fields: Partial<ExpiringRecord> = {}, limits = { now: 0, maxOfOwner: 10 }) =>
    store().expiring.put(record(fields), limits);
  const get = (name: string, now = 0, kind = 'link') => store().expiring.get({ kind, name }, now);

  it('gives a record until its time is over', async () => {
    await put();
    expect(await get('a', 99)).toEqual(record());
    expect(await get('a', 100)).toBeNull();
    expect(await get('b')).toBeNull();
    expect(await get('a', 0, 'session')).toBeNull();
  });

  it('replaces the record of the same kind and name', async () => {
    await put();
    await put({ kind: 'session' });
    await put({ body: 'new', expiresAt: 200 });
    expect(await get('a', 150)).toEqual(record({ body: 'new', expiresAt: 200 }));
    expect(await get('a', 0, 'session')).toEqual(record({ kind: 'session' }));
    expect(await store().expiring.count('link', 't', 0)).toBe(1);
  });

  it('gives a record to one of two who take it, and to nobody once its time is over', async () => {
    await put();
    await put({ name: 'late' });
    const take = (name: string, now: number) => store().expiring.take({ kind: 'link', name }, now);
    const taken = await Promise.all([take('a', 1), take('a', 1)]);
    expect(taken.filter((one) => one !== null)).toEqual([record()]);
    expect(await get('a')).toBeNull();
    expect(await take('late', 100)).toBeNull();
  });

  it('counts the records of an owner whose time is not over', async () => {
    await put({ name: 'a' });
    await put({ name: 'b', expiresAt: 50 });
    await put({ name: 'c', owner: 'other' });
    await put({ name: 'd', kind: 'session' });
    expect(await store().expiring.count('link', 't', 0)).toBe(2);
    expect(await store().expiring.count('link', 't', 50)).toBe(1);
  });

  it('keeps as many of an owner as it may have: the first to expire goes, and of those the oldest', async () => {
    const limits = { now: 0, maxOfOwner: 2 };
    await put({ name: 'first' }, limits);
    await put({ name: 'second' }, limits);
    await put({ name: 'other', owner: 'o' }, limits);
    await put({ name: 'third' }, limits);
    expect(await get('first')).toBeNull();
    await put({ name: 'short', expiresAt: 50 }, limits);
    expect(await get('short')).toBeNull();
    for (const name of ['second', 'third', 'other']) expect(await get(name)).not.toBeNull();
  });

  it('deletes what is over when something is put', async () => {
    await put({ name: 'old', expiresAt: 10 });
    await put({ name: 'new' }, { now: 10, maxOfOwner: 10 });
    expect(await get('old', 0)).toBeNull();
  });
}
