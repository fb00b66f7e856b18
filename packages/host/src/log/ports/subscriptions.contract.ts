/** What every store promises to those who tell others of a tenant's events: chosen rows, questions that wait, and a place for how far they got. */
import type { ContextId } from '@cairn/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asked, creation, type OpenStore, resolved, row, runA, runB } from './samples.kit.ts';
import type { Store } from './store.ts';
import type { SubscriptionRecord } from './subscriptions.ts';

/** Runs the suite against a store that `open` gives empty. */
export function subscriptionsContract(open: OpenStore): void {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());
  const current = (): Store => store;
  describe('chosen rows', () => chosenRows(current));
  describe('questions that wait', () => pending(current));
  describe('subscriptions', () => subscriptions(current));
}

const foreign = { tenant: 'other', contextId: 'ctx_other' as ContextId, originRunId: runB };

function chosenRows(store: () => Store): void {
  const read = async (after: string, limit: number, maxBytes?: number) => {
    const only = { tenant: 't', types: ['a', 'b'] };
    const page = await store().log.changes({ after, limit, maxBytes, only });
    return { found: page.rows.map(({ type, runId }) => `${runId} ${type}`), position: page.position };
  };

  it('are those of the tenant, of the types, that clients may see', async () => {
    await store().log.append(creation(runA));
    await store().log.append(creation(runB, { create: foreign }));
    await store().log.append({ runId: runA, rows: [row('a'), row('c'), row('b', { audience: 'operator' })] });
    await store().log.append({ runId: runB, rows: [row('a')] });
    await store().log.append({ runId: runA, rows: [row('b')] });
    expect((await read('0', 100)).found).toEqual(['run_a a', 'run_a b']);
    expect((await read('0', 100)).position).toBe(await store().log.end());
  });

  it('let the reader move on although nothing of a page was chosen, and miss nothing on the way', async () => {
    await store().log.append(creation(runA));
    for (let i = 0; i < 20; i += 1) await store().log.append({ runId: runA, rows: [row(i % 7 === 0 ? 'a' : 'c')] });
    const found: string[] = [];
    let position = '0';
    for (;;) {
      const page = await read(position, 2);
      found.push(...page.found);
      if (page.position === position) break;
      position = page.position;
    }
    expect(found).toEqual(['run_a a', 'run_a a', 'run_a a']);
    await store().log.append({ runId: runA, rows: [row('b')] });
    expect((await read(position, 2)).found).toEqual(['run_a b']);
  });

  it('end a page with the row that takes it past its bytes', async () => {
    await store().log.append(creation(runA));
    const large = row('a', { payload: JSON.stringify({ text: 'x'.repeat(5_000) }) });
    await store().log.append({ runId: runA, rows: [large, large, large] });
    const page = await read('0', 100, 6_000);
    expect(page.found).toHaveLength(2);
    expect((await read(page.position, 100, 1)).found).toHaveLength(1);
  });
}

function pending(store: () => Store): void {
  const waiting = async (tenant = 't', limit = 10) => {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store().log.pending({ tenant, limit, cursor });
      found.push(...page.interrupts.map((one) => `${one.runId} ${one.interruptId} ${one.workflowId}`));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  };

  it('are the open ones of the tenant, the oldest first, in pages of any size', async () => {
    await store().log.append(creation(runA));
    await store().log.append(creation(runB, { create: foreign }));
    await store().log.append({ runId: runA, rows: [asked('i1'), asked('i2')] });
    await store().log.append({ runId: runB, rows: [asked('i3')] });
    await store().log.append({ runId: runA, rows: [asked('i4')] });
    for (const limit of [1, 2, 10]) {
      expect(await waiting('t', limit)).toEqual(['run_a i1 wf', 'run_a i2 wf', 'run_a i4 wf']);
    }
    expect(await waiting('other')).toEqual(['run_b i3 wf']);
    expect(await waiting('nobody')).toEqual([]);
  });

  it('leave the list when they are answered or their run ends, also between two pages', async () => {
    await store().log.append(creation(runA));
    await store().log.append({ runId: runA, rows: [asked('i1'), asked('i2'), asked('i3')] });
    const first = await store().log.pending({ tenant: 't', limit: 1 });
    await store().log.append({ runId: runA, rows: [resolved('i1')] });
    const next = await store().log.pending({ tenant: 't', limit: 1, cursor: first.nextCursor ?? undefined });
    expect(next.interrupts.map(({ interruptId }) => interruptId)).toEqual(['i2']);
    await store().log.append({ runId: runA, rows: [row('run.cancelled')] });
    expect(await waiting()).toEqual([]);
  });

  it('refuse a cursor that no page gave', async () => {
    const query = { tenant: 't', limit: 1, cursor: 'next' };
    await expect(store().log.pending(query)).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('are found behind many of other tenants', async () => {
    await store().log.append(creation(runB, { create: foreign }));
    const many = Array.from({ length: 2_100 }, (_, i) => asked(`f${i}`));
    for (let i = 0; i < many.length; i += 100) {
      await store().log.append({ runId: runB, rows: many.slice(i, i + 100) });
    }
    await store().log.append(creation(runA));
    await store().log.append({ runId: runA, rows: [asked('i1')] });
    expect(await waiting()).toEqual(['run_a i1 wf']);
  });
}

function subscriptions(store: () => Store): void {
  const record = (fields: Partial<SubscriptionRecord>): SubscriptionRecord => ({
    id: 'w1',
    tenant: 't',
    kind: 'webhook',
    body: '{"url":"é"}',
    state: '{}',
    ...fields,
  });

  it('come back by kind, in the order they were put', async () => {
    const [first, second] = [record({ id: 'z' }), record({ id: 'a', tenant: 'other' })];
    for (const one of [first, second, record({ id: 'c', kind: 'callbacks' })]) {
      await store().records.putSubscription(one);
    }
    expect(await store().records.subscriptions('webhook')).toEqual([first, second]);
    expect(await store().records.subscriptions('nothing')).toEqual([]);
    const again = store().records.putSubscription(record({ id: 'z', body: '{}' }));
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
  });

  it('keep the last state they were given, and none once they are gone', async () => {
    await store().records.putSubscription(record({}));
    await store().records.saveSubscriptionState('w1', '{"at":1}');
    expect(await store().records.subscriptions('webhook')).toEqual([record({ state: '{"at":1}' })]);
    expect(await store().records.dropSubscription('other', 'w1')).toBe(false);
    expect(await store().records.dropSubscription('t', 'w1')).toBe(true);
    expect(await store().records.dropSubscription('t', 'w1')).toBe(false);
    await store().records.saveSubscriptionState('w1', '{"at":2}');
    expect(await store().records.subscriptions('webhook')).toEqual([]);
  });
}
