/** What every store promises of purged runs: nothing of them is left but their identity, their positions and hashes. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { eachStore, type Open } from './contract.kit.ts';
import { childOf, dropped, ids, kept } from './memory-samples.kit.ts';
import type { PurgeStep } from './purges.ts';
import { purge } from './purging.kit.ts';
import { rowBytes } from './row-bytes.ts';
import { asked, context, creation, resolved, row, runA, runB, started } from './samples.kit.ts';

const child = 'run_a.1' as RunId;
const grandchild = 'run_a.1.1' as RunId;
const ended = row('run.completed');

const sum = (steps: readonly PurgeStep[], of: 'events' | 'bytes' | 'memories'): number =>
  steps.reduce((total, step) => total + step[of], 0);

export function purgesContract(open: Open): void {
  const store = eachStore(open);
  const log = () => store().log;
  const many = Array.from({ length: 300 }, (_, i) => row('log.appended', { payload: `{"i":${i}}`, task: '"t"' }));

  it('removes a run from every view, and keeps its identity and the end of its chain', async () => {
    await log().append(creation(runA, { rows: [started(), asked('i1'), resolved('i1'), ...many, ended] }));
    const { hash, seq } = present(await log().head(runA));
    const steps = await purge(store(), runA);
    expect(sum(steps, 'events')).toBe(304);
    expect(await log().head(runA)).toBeNull();
    expect(await rowsOf(store(), runA)).toEqual([]);
    expect(await log().read({ contextId: context, afterCursor: 0, limit: 9 })).toEqual([]);
    for (const query of [{}, { tag: 'red' }, { workflowId: 'wf' }, { status: 'completed' as const }]) {
      expect((await store().runIndex.list({ tenant: 't', limit: 9, ...query })).runs).toEqual([]);
    }
    expect(await store().runIndex.interrupts(runA)).toEqual([]);
    const identity = { runId: runA, tenant: 't', contextId: context, originRunId: runA, parentRunId: null, fork: null };
    expect(await log().purged(runA)).toEqual({ ...identity, purgedAt: 9_000, seq, hash });
    expect(await store().contexts.tenant(context)).toBe('t');
    expect(await store().runIndex.rebuild()).toEqual({ runs: 0, repaired: 0 });
  });

  it('takes the bytes of the run off the quota of its tenant, and no others', async () => {
    await log().append(creation(runB, { create: { tenant: 't', contextId: context, originRunId: runB } }));
    const before = await store().runIndex.tenantLogBytes('t');
    const rows = [started(), ...many, row('large', { payload: JSON.stringify('x'.repeat(9_000)) }), ended];
    await log().append(creation(runA, { rows }));
    const steps = await purge(store(), runA);
    expect(sum(steps, 'bytes')).toBe(rows.reduce((total, one) => total + rowBytes(one), 0));
    expect(await store().runIndex.tenantLogBytes('t')).toBe(before);
  });

  it('purges the runs below it too, at every level', async () => {
    await log().append(creation(runA, { rows: [started(), ended] }));
    await log().append({ ...childOf(runA, child), rows: [started(), ended] });
    await log().append({ ...childOf(child, grandchild), rows: [started(), ended] });
    await log().append({ ...creation(runB), rows: [started(), ended] });
    await purge(store(), runA);
    for (const runId of [runA, child, grandchild]) expect(await log().purged(runId)).not.toBeNull();
    expect((await store().runIndex.list({ tenant: 't', limit: 9 })).runs.map(({ runId }) => runId)).toEqual([runB]);
  });

  it('refuses a run that has not ended, and changes nothing', async () => {
    await log().append(creation(runA));
    await expect(store().purges.retire(runA, 1)).rejects.toMatchObject({
      code: 'conflict',
      details: { runStatus: 'running' },
    });
    expect(await rowsOf(store(), runA)).toHaveLength(1);
    expect(await store().purges.unfinished(9)).toEqual([]);
  });

  it('goes on after any step, and a second purge finds nothing', async () => {
    await log().append(creation(runA, { rows: [started(), ...many, ended] }));
    await log().append({ ...childOf(runA, child), rows: [started(), ended] });
    await store().purges.retire(runA, 9_000);
    await store().purges.purgeSome(runA);
    expect(await store().purges.unfinished(9)).toEqual([runA, child]);
    const steps = [...(await purge(store(), runA)), ...(await purge(store(), child))];
    expect(sum(steps, 'events')).toBe(304);
    expect(await store().purges.unfinished(9)).toEqual([]);
    expect(await store().runIndex.tenantLogBytes('t')).toBe(0);
    expect(sum(await purge(store(), runA, 10_000), 'events')).toBe(0);
    expect(await log().purged(runA)).toMatchObject({ purgedAt: 9_000 });
  });

  it('leaves positions valid: new rows come after all purged ones, and readers of all runs pass over them', async () => {
    await log().append(creation(runB));
    const { position } = await store().changes.read({ after: '0', limit: 9, filter: null });
    const { cursor } = await log().append(creation(runA, { rows: [started(), ...many, ended] }));
    await purge(store(), runA);
    expect(await store().changes.end()).toBe(String(cursor));
    expect(await store().changes.read({ after: position, limit: 9, filter: null })).toEqual({
      rows: [],
      position: String(cursor),
    });
    const filter = { tenant: 't', types: ['a'] };
    expect((await log().append({ runId: runB, rows: [row('a')] })).cursor).toBeGreaterThan(cursor);
    for (const one of [null, filter]) {
      const changes = await store().changes.read({ after: String(cursor), limit: 9, filter: one });
      expect(changes.rows.map(({ type }) => type)).toEqual(['a']);
    }
    const inContext = await log().read({ contextId: context, afterCursor: 5, limit: 9 });
    expect(inContext.map(({ type }) => type)).toEqual(['a']);
  });

  it('never gives the place of a purged run to another', async () => {
    await log().append(creation(runA, { rows: [started(), ...many, ended] }));
    await purge(store(), runA);
    await log().append(creation(runB, { rows: [started(), ...many, ended] }));
    expect(await rowsOf(store(), runB)).toHaveLength(302);
    const { runs, nextCursor } = await store().runIndex.list({ tenant: 't', limit: 1 });
    expect([runs.map(({ runId }) => runId), nextCursor]).toEqual([[runB], null]);
    expect(sum(await purge(store(), runB), 'events')).toBe(302);
  });

  it('removes memories that the run kept and that were dropped, and leaves all others', async () => {
    await log().append(creation(runA, { rows: [started(), kept('m1', { tags: ['x'] }), kept('m2'), ended] }));
    await log().append(creation(runB, { rows: [started(), kept('m3'), dropped('m1'), dropped('m3')] }));
    const steps = await purge(store(), runA);
    expect(sum(steps, 'memories')).toBe(1);
    expect(await ids(store())).toEqual(['m2']);
    expect(await ids(store(), { tag: 'x' })).toEqual([]);
    // Its drop is gone with it, so an entry of that name can be kept again.
    await log().append({ runId: runB, rows: [kept('m1', { content: 'new' })] });
    expect(await ids(store())).toEqual(['m1', 'm2']);
    await log().append({ runId: runB, rows: [ended] });
    expect(sum(await purge(store(), runB), 'memories')).toBe(1);
    expect(await ids(store())).toEqual(['m1', 'm2']);
  });

  it('removes its checkpoint and the idempotency records of its requests, and no others', async () => {
    const record = (key: string) => ({
      ...{ tenant: 't', endpoint: 'POST /v1/runs', key, requestDigest: 'd', state: 'completed' as const },
      ...{ owner: null, until: null, status: 201, headers: '{}', body: '{}', at: 1 },
    });
    const keyed = (key: string) => ({ idempotency: [{ record: record(key), owner: null }] });
    await log().append(creation(runA, { rows: [started(), ended], ...keyed('k1') }));
    await log().append(creation(runB, { ...keyed('k2') }));
    for (const runId of [runA, runB]) await store().checkpoints.put({ runId, seq: 0, format: 'f', body: '{}' });
    await purge(store(), runA);
    expect(await store().idempotency.get(record('k1'))).toBeNull();
    expect(await store().idempotency.get(record('k2'))).not.toBeNull();
    expect(await store().checkpoints.get(runA)).toBeNull();
    expect(await store().checkpoints.get(runB)).not.toBeNull();
  });

  it('purges an imported run whatever its rows say, and refuses to import it again', async () => {
    const rows = [started(), asked('i1')];
    await log().append(creation(runB, { rows }));
    const { hash } = present(await log().head(runB));
    const imported = { tenant: 't', contextId: context, originRunId: runB, importedAt: 9, seq: 1, hash };
    await log().importRun({ ...imported, runId: runA }, rows);
    await purge(store(), runA);
    await expect(log().importRun({ ...imported, runId: runA }, rows)).rejects.toMatchObject({ code: 'run_purged' });
    const foreign = { ...imported, runId: runA, tenant: 'other', contextId: 'ctx_two' as ContextId };
    await expect(log().importRun(foreign, rows)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('keeps a context with its tenant when all of its runs are purged', async () => {
    await log().append(creation(runA, { rows: [started(), ended] }));
    const { hash } = present(await log().head(runA));
    await purge(store(), runA);
    const foreign = {
      runId: runB,
      tenant: 'other',
      contextId: context,
      originRunId: runA,
      importedAt: 9,
      seq: 1,
      hash,
    };
    await expect(log().importRun(foreign, [started(), ended])).rejects.toMatchObject({ message: /another tenant/ });
  });
}
