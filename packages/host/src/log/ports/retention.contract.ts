/** What every store promises to those that decide which runs go: groups, children, forks and sizes. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import { forkOf, ten } from './fork-samples.kit.ts';
import { childOf } from './memory-samples.kit.ts';
import { rowBytes } from './row-bytes.ts';
import { creation, row, runA, runB, started } from './samples.kit.ts';

const ended = row('run.completed');

export function retentionContract(open: Open<'log' | 'retention'>): void {
  const store = eachStore(open);
  const log = () => store().log;

  it('names forks that go on before those that have ended, however many there are', async () => {
    await log().append(creation(runA, { rows: [...ten, ended] }));
    for (const n of [1, 2, 3]) {
      const runId = `run_f${n}` as RunId;
      await log().fork(forkOf(runA, 3, { runId, contextId: `ctx_f${n}` as ContextId }));
      if (n < 3) await log().append({ runId, rows: [ended] });
    }
    expect((await store().retention.forks(runA, 1)).map(({ runId }) => runId)).toEqual(['run_f3']);
  });

  it('finds every tenant and workflow that has runs, in order, and the children of a run', async () => {
    const of = (runId: RunId, tenant: string, workflowId: string) =>
      creation(runId, {
        rows: [started({ workflowId })],
        create: { tenant, contextId: `ctx_${runId}` as ContextId, originRunId: runId },
      });
    await log().append(of(runA, 't', 'b'));
    await log().append(of(runB, 's', 'z'));
    await log().append(of('run_c' as RunId, 't', 'a'));
    await log().append(of('run_d' as RunId, 't', 'b'));
    const groups: string[] = [];
    for (let group = await store().retention.nextGroup(null); group !== null; ) {
      groups.push(`${group.tenant} ${group.workflowId}`);
      group = await store().retention.nextGroup(group);
    }
    expect(groups).toEqual(['s z', 't a', 't b']);
    const below = ['run_a.1', 'run_a.2', 'run_a.3'] as RunId[];
    for (const runId of below) await log().append(childOf(runA, runId));
    const children = await store().retention.children(runA, null, 2);
    expect(children.map(({ runId }) => runId)).toEqual(below.slice(0, 2));
    const more = await store().retention.children(runA, children.at(-1)?.runId ?? null, 2);
    expect(more.map(({ runId }) => runId)).toEqual(below.slice(2));
  });

  it('counts the events and bytes of a run', async () => {
    const rows = [
      started(),
      ...Array.from({ length: 300 }, (_, i) => row('log.appended', { payload: `{"i":${i}}` })),
      ended,
    ];
    await log().append(creation(runA, { rows }));
    let [events, bytes] = [0, 0];
    for (let after: number | null = -1; after !== null; ) {
      const page = await store().retention.size(runA, after);
      events += page.events;
      bytes += page.bytes;
      after = page.nextAfter;
    }
    expect([events, bytes]).toEqual([rows.length, rows.reduce((total, one) => total + rowBytes(one), 0)]);
  });
}
