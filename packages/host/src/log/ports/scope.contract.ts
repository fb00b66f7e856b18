/** What every store promises of scopes: with the guard, one run at a time works on one, and nothing stays locked. */
import type { RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import { context, creation, row, runA, runB, started } from './samples.kit.ts';

export function scopeContract(open: Open<'log' | 'runIndex'>): void {
  const store = eachStore(open);
  const alone = (runId: RunId, scopeId: string | undefined, tenant = 't') =>
    store().log.append(
      creation(runId, {
        create: { tenant, contextId: context, originRunId: runId },
        rows: [started(scopeId === undefined ? {} : { scopeId })],
        isAloneInScope: true,
      }),
    );
  const taken = { code: 'run_already_active', retryable: true, details: { activeRunId: runA, retryAfter: 1 } };

  it('lets exactly one of many that are created at once through', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `run_${i}` as RunId);
    const results = await Promise.allSettled(ids.map((runId) => alone(runId, 's')));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    expect((await store().runIndex.list({ tenant: 't', limit: 99 })).runs).toMatchObject([
      { runId: 'run_0', scopeId: 's' },
    ]);
  });

  it('is free again the moment its run has ended, also in the same breath', async () => {
    await alone(runA, 's');
    await expect(alone(runB, 's')).rejects.toMatchObject(taken);
    const end = store().log.append({ runId: runA, rows: [row('run.completed')] });
    await expect(Promise.all([end, alone(runB, 's')])).resolves.toHaveLength(2);
  });

  it('belongs to a tenant, and a run without one is never in the way', async () => {
    await alone(runA, 's');
    await alone('run_other' as RunId, 's', 'other');
    await alone('run_none' as RunId, undefined);
    await alone('run_none2' as RunId, undefined);
    await alone('run_s2' as RunId, 's2');
    await expect(alone(runB, 's')).rejects.toMatchObject(taken);
  });

  it('is guarded against runs that came without the guard, which come as they like', async () => {
    await store().log.append(creation(runA, { rows: [started({ scopeId: 's' })] }));
    await store().log.append(creation('run_c' as RunId, { rows: [started({ scopeId: 's' })] }));
    await expect(alone(runB, 's')).rejects.toMatchObject({ code: 'run_already_active' });
  });

  it('keeps nothing of a create that was refused', async () => {
    await alone(runA, 's');
    await alone(runB, 's').catch(() => undefined);
    expect(await store().log.head(runB)).toBeNull();
  });

  it('is known again after a rebuild', async () => {
    await alone(runA, 's');
    expect(await store().runIndex.rebuild()).toEqual({ runs: 1, repaired: 0 });
    await expect(alone(runB, 's')).rejects.toMatchObject(taken);
  });
}
