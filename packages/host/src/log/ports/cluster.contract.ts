/** What every store promises its nodes: one holder of each lease, the state of live nodes, notices for all. */
import { expect, it } from 'vitest';
import type { Beat, NamedLease, Notice } from './cluster.ts';
import { MAX_NOTICE_CHARACTERS } from './cluster.ts';
import { eachStore, type Open } from './contract.kit.ts';

export function clusterContract(open: Open<'cluster'>): void {
  const store = eachStore(open);
  const hold = (fields: Partial<NamedLease> = {}) =>
    store().cluster.hold({ name: 'sweep', owner: 'a', now: 0, until: 100, ...fields });
  const beat = (fields: Partial<Beat> = {}) =>
    store().cluster.beat({ node: 'a', now: 0, until: 100, body: '', ...fields });

  it('gives a lease to one owner, who may extend it, until its time is over', async () => {
    const [one, two] = await Promise.all([hold({ owner: 'a' }), hold({ owner: 'b' })]);
    const holder = one === null ? 'b' : 'a';
    const other = one === null ? 'a' : 'b';
    const fence = one ?? two ?? 0;
    expect([one, two].filter((held) => held !== null)).toHaveLength(1);
    expect(await hold({ owner: holder, now: 50, until: 150 })).toBe(fence);
    expect(await hold({ owner: other, now: 149 })).toBeNull();
    expect(await hold({ owner: other, now: 150, until: 250 })).toBe(fence + 1);
    expect(await hold({ owner: holder, now: 151 })).toBeNull();
  });

  it('keeps leases of different names apart', async () => {
    expect(await hold({ owner: 'a' })).not.toBeNull();
    expect(await hold({ name: 'webhooks', owner: 'b' })).not.toBeNull();
  });

  it('gives a lease on once its holder releases it, with a greater fence, also to the same owner', async () => {
    const fence = (await hold({ owner: 'a' })) ?? 0;
    await store().cluster.release({ name: 'sweep', owner: 'b' });
    expect(await hold({ owner: 'b' })).toBeNull();
    await store().cluster.release({ name: 'sweep', owner: 'a' });
    expect(await hold({ owner: 'b' })).toBe(fence + 1);
    await store().cluster.release({ name: 'sweep', owner: 'b' });
    expect(await hold({ owner: 'b' })).toBe(fence + 2);
  });

  it('keeps nothing of a lease that its holder releases and forgets', async () => {
    await hold({ owner: 'a' });
    await store().cluster.release({ name: 'sweep', owner: 'a' });
    expect(await hold({ owner: 'a' })).toBe(2);
    await store().cluster.release({ name: 'sweep', owner: 'b', forgets: true });
    expect(await hold({ owner: 'b' })).toBeNull();
    await store().cluster.release({ name: 'sweep', owner: 'a', forgets: true });
    expect(await hold({ owner: 'b' })).toBe(1);
  });

  it('counts a lease that ran out as a new one, also for the same owner', async () => {
    const fence = (await hold({ owner: 'a' })) ?? 0;
    expect(await hold({ owner: 'a', now: 100, until: 200 })).toBe(fence + 1);
  });

  it('tells a node what the other live nodes said last', async () => {
    expect(await beat({ body: 'one' })).toEqual([]);
    expect(await beat({ node: 'b', body: 'two' })).toEqual([{ node: 'a', body: 'one' }]);
    await beat({ node: 'b', body: 'three', until: 50 });
    expect(await beat()).toEqual([{ node: 'b', body: 'three' }]);
    expect(await beat({ now: 50 })).toEqual([]);
    await beat({ node: 'b', now: 50, body: 'four' });
    await store().cluster.leave('b');
    expect(await beat({ now: 51 })).toEqual([]);
  });

  it('tells every follower a notice, in order, until it stops', async () => {
    const heard: Notice[] = [];
    const all = Promise.withResolvers<void>();
    const stop = store().cluster.follow((notice) => {
      heard.push(notice);
      if (heard.length === 2) all.resolve();
    });
    const notices = [
      { topic: 'x', body: 'é'.repeat(20_000) },
      { topic: 'y', body: '' },
    ];
    for (const notice of notices) await store().cluster.publish(notice);
    await all.promise;
    expect(heard).toEqual(notices);
    stop();
    const other = Promise.withResolvers<void>();
    store().cluster.follow(() => other.resolve());
    await store().cluster.publish({ topic: 'z', body: '' });
    await other.promise;
    expect(heard).toHaveLength(2);
  });

  it('refuses a notice that is too long', async () => {
    const long = store().cluster.publish({ topic: 'x', body: 'x'.repeat(MAX_NOTICE_CHARACTERS + 1) });
    await expect(long).rejects.toMatchObject({ code: 'validation_error' });
  });
}
