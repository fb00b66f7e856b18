/** What every store promises of subscriptions: they come back in order, with the state that was saved last. */
import { expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import type { SubscriptionRecord } from './subscriptions.ts';

export function subscriptionsContract(open: Open<'subscriptions'>): void {
  const store = eachStore(open);
  const record = (fields: Partial<SubscriptionRecord>): SubscriptionRecord => ({
    id: 'w1',
    tenant: 't',
    kind: 'webhook',
    body: '{"url":"é"}',
    state: '{}',
    ...fields,
  });

  it('lists them by kind, in the order they were put', async () => {
    const [first, second] = [record({ id: 'z' }), record({ id: 'a', tenant: 'other' })];
    for (const one of [first, second, record({ id: 'c', kind: 'callbacks' })]) {
      await store().subscriptions.put(one);
    }
    expect(await store().subscriptions.list('webhook')).toEqual([first, second]);
    expect(await store().subscriptions.list('webhook', 'other')).toEqual([second]);
    expect(await store().subscriptions.list('nothing')).toEqual([]);
    const again = store().subscriptions.put(record({ id: 'z', body: '{}' }));
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
  });

  it('keeps the last state of each, and none once they are gone', async () => {
    await store().subscriptions.put(record({}));
    await store().subscriptions.saveState('w1', '{"at":1}', 0);
    expect(await store().subscriptions.list('webhook')).toEqual([record({ state: '{"at":1}' })]);
    expect(await store().subscriptions.drop('other', 'w1')).toBe(false);
    expect(await store().subscriptions.drop('t', 'w1')).toBe(true);
    expect(await store().subscriptions.drop('t', 'w1')).toBe(false);
    await store().subscriptions.saveState('w1', '{"at":2}', 0);
    expect(await store().subscriptions.list('webhook')).toEqual([]);
  });

  it('keeps what the holder of a newer lease saved', async () => {
    await store().subscriptions.put(record({}));
    for (const [state, fence] of [
      ['{"at":2}', 2],
      ['{"at":1}', 1],
      ['{"at":3}', 2],
    ] as const) {
      await store().subscriptions.saveState('w1', state, fence);
    }
    expect(await store().subscriptions.list('webhook')).toEqual([record({ state: '{"at":3}' })]);
    await store().subscriptions.saveState('w1', '{"at":0}', 1);
    expect(await store().subscriptions.list('webhook')).toEqual([record({ state: '{"at":3}' })]);
  });
}
