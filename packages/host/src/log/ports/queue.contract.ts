/** What every queue promises: a run that needs a step is claimed, by one node at a time, and no wake is lost. */

import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { eachStore, type Open, type Ports } from './contract.kit.ts';
import { asked, creation, lease, row, runA, runB, started } from './samples.kit.ts';

type Queued = () => Ports<'log' | 'queue'>;

export function queueContract(open: Open<'log' | 'queue'>): void {
  const store = eachStore(open);
  describe('leases taken with an append', () => appendLeases(store));
  describe('claiming', () => claiming(store));
  describe('wakes', () => wakes(store));
  describe('the next due instant', () => dueInstant(store));
  describe('the depth', () => depth(store));
}

const claimAt = (store: Ports<'log' | 'queue'>, owner: string, now: number, limit = 10) =>
  store.queue.claim({ owner, now, until: now + 10_000, limit });

/** A run that nobody holds and that wants to be woken. */
const resting = (store: Ports<'log' | 'queue'>, runId: RunId, wakeAt: number | null) =>
  store.log.append(creation(runId, { claim: lease('first'), rest: { wakeAt } }));

function appendLeases(store: Queued): void {
  it('give a fence that holds until the lease changes hands', async () => {
    const { fence } = await store().log.append(creation(runA, { claim: lease('n1') }));
    await store().log.append({ runId: runA, fence, rows: [row('a')] });
    const stolen = await store().log.append({ runId: runA, claim: lease('n2', 20_000, 30_000), rows: [row('b')] });
    expect(stolen.fence).toBeGreaterThan(fence);
    const late = store().log.append({ runId: runA, fence, rows: [row('c')] });
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
    await store().log.append({ runId: runA, fence: stolen.fence, rows: [row('d')] });
  });

  it('are refused while another owner is alive', async () => {
    await store().log.append(creation(runA, { claim: lease('n1') }));
    const claim = lease('n2', 9_999, 20_000);
    await expect(store().log.append({ runId: runA, claim, rows: [row('a')] })).rejects.toMatchObject({
      code: 'lease_held',
    });
    expect((await store().log.head(runA))?.seq).toBe(0);
  });

  it('keep the fence when the holder takes them again', async () => {
    const first = await store().log.append(creation(runA, { claim: lease('n1') }));
    const again = await store().log.append({ runId: runA, claim: lease('n1'), rows: [row('a')] });
    expect(again.fence).toBe(first.fence);
  });

  it('are gone once given back: an append under them is refused', async () => {
    const { fence } = await store().log.append(creation(runA, { claim: lease('n1') }));
    await store().log.append({ runId: runA, fence, rest: { wakeAt: null }, rows: [row('a')] });
    const late = store().log.append({ runId: runA, fence, rows: [row('b')] });
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
    const next = await store().log.append({ runId: runA, claim: lease('n2'), rows: [row('c')] });
    expect(next.fence).toBeGreaterThan(fence);
  });

  it('let facts from outside through without a fence', async () => {
    await store().log.append(creation(runA, { claim: lease('n1') }));
    await expect(store().log.append({ runId: runA, rows: [row('fact')] })).resolves.toMatchObject({ seq: 1 });
  });
}

function claiming(store: Queued): void {
  it('gives each due run to one owner only', async () => {
    await resting(store(), runA, 100);
    await resting(store(), runB, 100);
    const [one, two] = await Promise.all([claimAt(store(), 'n1', 100), claimAt(store(), 'n2', 100)]);
    const claimed = [...one, ...two].map((claim) => claim.runId);
    expect(claimed.toSorted()).toEqual([runA, runB]);
  });

  it('gives no run before its time, none that only waits for an answer, and no more than asked', async () => {
    await resting(store(), runA, 100);
    await resting(store(), runB, null);
    expect(await claimAt(store(), 'n1', 99)).toEqual([]);
    expect((await claimAt(store(), 'n1', 100)).map((c) => c.runId)).toEqual([runA]);
    for (let i = 0; i < 5; i += 1) await resting(store(), `run_more_${i}` as RunId, 100);
    expect((await claimAt(store(), 'n1', 100, 3)).length).toBe(3);
    expect((await claimAt(store(), 'n1', 100, 3)).length).toBe(2);
  });

  it('gives the runs that waited longest first', async () => {
    for (const [i, wakeAt] of [30, 10, 20].entries()) await resting(store(), `run_${i}` as RunId, wakeAt);
    expect((await claimAt(store(), 'n1', 50, 2)).map((c) => c.runId)).toEqual(['run_1', 'run_2']);
  });

  it('gives every tenant its turn when more runs are due than asked for', async () => {
    const ofTenant = (tenant: string, runId: RunId, wakeAt: number) => {
      const create = { tenant, contextId: `ctx_${tenant}` as ContextId, originRunId: runId };
      return store().log.append(creation(runId, { create, claim: lease('first'), rest: { wakeAt } }));
    };
    for (let n = 0; n < 30; n += 1) await ofTenant('greedy', `run_g${n}` as RunId, 10 + n);
    await ofTenant('late', 'run_l0' as RunId, 80);
    await ofTenant('late', 'run_l1' as RunId, 90);
    await ofTenant('later', 'run_x0' as RunId, 95);
    const claims = await claimAt(store(), 'n1', 100, 6);
    const ids = ['run_g0', 'run_l0', 'run_x0', 'run_g1', 'run_l1', 'run_g2'];
    expect(claims.map((c) => c.runId)).toEqual(ids);
    expect(claims.map((c) => c.tenant)).toEqual(['greedy', 'late', 'later', 'greedy', 'late', 'greedy']);
    expect((await claimAt(store(), 'n1', 100, 99)).length).toBe(27);
  });

  it('takes runs from an owner whose session ended, and from nobody else', async () => {
    const { fence } = await store().log.append(creation(runA, { claim: lease('n1', 0, 1_000) }));
    await store().log.append(creation(runB, { claim: lease('n2', 0, 5_000) }));
    expect(await claimAt(store(), 'n3', 999)).toEqual([]);
    const [claim, ...others] = await claimAt(store(), 'n3', 1_000);
    expect(claim).toMatchObject({ runId: runA });
    expect(present(claim).fence).toBeGreaterThan(fence);
    expect(others).toEqual([]);
    const late = store().log.append({ runId: runA, fence, rows: [row('a')] });
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
  });

  it('keeps every lease of an owner that renews its session', async () => {
    await store().log.append(creation(runA, { claim: lease('n1', 0, 1_000) }));
    await store().log.append(creation(runB, { claim: lease('n1', 0, 1_000) }));
    await store().queue.renew({ owner: 'n1', until: 3_000 });
    expect(await claimAt(store(), 'n2', 2_999)).toEqual([]);
    expect((await claimAt(store(), 'n2', 3_000)).length).toBe(2);
  });

  it('never shortens the session of the owner that claims', async () => {
    await store().queue.renew({ owner: 'n1', until: 9_000 });
    await store().log.append(creation(runA, { claim: lease('n1', 0, 1_000) }));
    expect(await claimAt(store(), 'n2', 8_999)).toEqual([]);
    await resting(store(), runB, 0);
    await store().queue.claim({ owner: 'n1', now: 0, until: 2_000, limit: 1 });
    expect(await claimAt(store(), 'n2', 8_999)).toEqual([]);
    expect((await claimAt(store(), 'n2', 9_000)).length).toBe(2);
  });

  it('never gives a run that ended', async () => {
    const { fence } = await store().log.append(creation(runA, { claim: lease('n1', 0, 1_000) }));
    await store().log.append({ runId: runA, fence, rows: [row('run.completed')] });
    await resting(store(), runB, 10);
    await store().log.append({ runId: runB, rows: [row('run.cancelled')] });
    expect(await claimAt(store(), 'n2', 1e9)).toEqual([]);
  });
}

function wakes(store: Queued): void {
  it('make a resting run due, also from the append of another run', async () => {
    await resting(store(), runA, null);
    await store().log.append(creation(runB, { wakes: [{ runId: runA, at: 500 }] }));
    expect(await claimAt(store(), 'n1', 499)).toEqual([]);
    expect((await claimAt(store(), 'n1', 500)).map((c) => c.runId)).toEqual([runA]);
  });

  it('make a run due by its own fact from outside', async () => {
    await resting(store(), runA, 9_000);
    await store().log.append({ runId: runA, rows: [row('fact')], wakes: [{ runId: runA, at: 500 }] });
    expect((await claimAt(store(), 'n1', 500)).map((c) => c.runId)).toEqual([runA]);
  });

  it.each([
    ['a later instant', 8_000],
    ['no instant', null],
  ])('are not lost when they come while the run is held and it is given back with %s', async (_, wakeAt) => {
    const first = await store().log.append(creation(runA, { claim: lease('n1') }));
    await store().log.append({ runId: runA, rows: [row('fact')], wakes: [{ runId: runA, at: 500 }] });
    await store().log.append({ runId: runA, fence: first.fence, rest: { wakeAt }, rows: [row('a')] });
    const [claim] = await claimAt(store(), 'n1', 500);
    expect(claim).toMatchObject({ runId: runA });
    await store().log.append(creation(runB, { wakes: [{ runId: runA, at: 600 }] }));
    await store().queue.release({ runId: runA, fence: present(claim).fence, wakeAt });
    expect((await claimAt(store(), 'n1', 600)).map((c) => c.runId)).toEqual([runA]);
  });

  it('are spent by the claim they caused', async () => {
    await resting(store(), runA, 100);
    const [claim] = await claimAt(store(), 'n1', 100);
    await store().queue.release({ runId: runA, fence: present(claim).fence, wakeAt: null });
    expect(await claimAt(store(), 'n1', 1e9)).toEqual([]);
  });

  it('do not touch a run that ended or that nobody knows', async () => {
    await store().log.append(creation(runA, { rows: [row('run.completed')] }));
    const unknown = 'run_unknown' as RunId;
    await store().log.append(creation(runB, { wakes: [runA, unknown].map((runId) => ({ runId, at: 0 })) }));
    expect(await claimAt(store(), 'n1', 1e9)).toEqual([]);
  });

  it('ignore a release under an old fence', async () => {
    const { fence } = await store().log.append(creation(runA, { claim: lease('n1', 0, 1_000) }));
    await claimAt(store(), 'n2', 1_000);
    await store().queue.release({ runId: runA, fence, wakeAt: 0 });
    expect(await claimAt(store(), 'n3', 2_000)).toEqual([]);
  });
}

function dueInstant(store: Queued): void {
  it('is nothing while nothing waits for time', async () => {
    expect(await store().queue.due()).toBeNull();
    await resting(store(), runA, null);
    expect(await store().queue.due()).toBeNull();
  });

  it('is the earliest wake of a run that nobody holds', async () => {
    await resting(store(), runA, 700);
    await resting(store(), runB, 300);
    expect(await store().queue.due()).toBe(300);
    await claimAt(store(), 'n1', 300);
    expect(await store().queue.due()).toBe(700);
  });

  it('is the end of a session while its owner holds runs', async () => {
    await store().log.append(creation(runA, { claim: lease('n1', 0, 1_000) }));
    expect(await store().queue.due()).toBe(1_000);
    await store().queue.renew({ owner: 'n1', until: 4_000 });
    expect(await store().queue.due()).toBe(4_000);
    await store().log.append({ runId: runA, rows: [row('run.completed')] });
    expect(await store().queue.due()).toBeNull();
  });
}

function depth(store: Queued): void {
  const waiting = row('node.suspended', { nodeId: 'gate', payload: '{"nodeId":"gate","interruptId":"i"}' });

  it('counts runs that have not ended, whatever they wait for, and those that are due and free', async () => {
    const { log, queue } = store();
    expect(await queue.depth(0)).toEqual({ active: 0, due: 0 });
    await log.append(creation('run_held' as RunId, { claim: lease('n1') }));
    await resting(store(), 'run_due' as RunId, 500);
    await resting(store(), 'run_later' as RunId, 5_000);
    const asks = [started(), asked('i'), waiting];
    await log.append(creation('run_waits' as RunId, { rows: asks, claim: lease('n1'), rest: { wakeAt: null } }));
    const foreign = { tenant: 'u', contextId: 'ctx_u' as ContextId, originRunId: 'run_u' as RunId };
    const rest = { wakeAt: null };
    await log.append(creation('run_u' as RunId, { create: foreign, rows: asks, claim: lease('n1'), rest }));
    await log.append(creation('run_over' as RunId, { rows: [started(), row('run.completed')] }));
    expect(await queue.depth(500)).toEqual({ active: 5, due: 1 });
    expect(await queue.depth(5_000)).toEqual({ active: 5, due: 2 });
  });
}
