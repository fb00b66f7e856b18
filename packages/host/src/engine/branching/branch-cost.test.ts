/** What a branch reads before it is accepted: a bounded tail of its source, however long that is. */
import type { RunId, WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain } from '../../../test/kit/engine-bench.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { RunRows } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Step } from '../ports.ts';

const breaks: Step = {
  typeId: 'local.step.breaks',
  safety: 'read',
  run: () => Promise.reject(new Error('it is down')),
};

/** A loop, and then a step that fails at its second attempt. */
function looped(times: number): WorkflowDefinition {
  const nodes = chain({ typeId: 'core.loop', config: { times } }, 'core.noop', {
    typeId: breaks.typeId,
    settings: { retry: { maxRetries: 1, backoffMs: 0 } },
  }).nodes.map((node, i) => ({ ...node, id: ['again', 'body', 'last'][i] ?? node.id }));
  const edge = (sourceNodeId: string, targetNodeId: string, sourceOutput?: string) => ({
    id: `${sourceNodeId}-${targetNodeId}`,
    sourceNodeId,
    targetNodeId,
    ...(sourceOutput === undefined ? {} : { sourceOutput }),
  });
  const edges = [edge('again', 'body', 'body'), edge('body', 'again'), edge('again', 'last', 'done')];
  return { ...chain(), nodes, edges };
}

/** A store that counts the rows it gives, and the count since it was last taken. */
function counted(base: Store) {
  let rows = 0;
  const read: Store['log']['read'] = async (range) => {
    const found = await base.log.read(range as RunRows);
    rows += found.length;
    return found;
  };
  const taken = () => {
    const count = rows;
    rows = 0;
    return count;
  };
  return { store: { ...base, log: { ...base.log, read } }, taken };
}

test('a branch and a retry of a long run read no more of it than those of a short run', async () => {
  const base = inMemoryStore();
  const host = bench(base, { maxNodeExecutions: 20_000 });
  const { store, taken } = counted(base);
  const engine = host.node('n1', [breaks], store);
  const source = await host.begin(engine, looped(1_500));
  await host.seen(source, 'node.retried');
  host.clock.advance(1_000);
  await host.seen(source, 'run.failed');
  const rows = await host.rows(source);
  expect(rows.length).toBeGreaterThan(6_000);
  const retryAt = rows.findLastIndex(({ type, nodeId }) => type === 'node.started' && nodeId === 'again') + 1;
  taken();
  const { fromSeq } = await engine.retry({ tenant: 't', runId: source });
  // The state of the failed node, that of the node's first attempt, and that of the cut.
  expect(taken()).toBeLessThan(4_500);
  expect(rows.filter(({ type }) => type === 'node.retried')).toHaveLength(1);
  expect(rows[fromSeq]).toMatchObject({ type: 'node.started', nodeId: 'last' });
  expect(fromSeq).toBeGreaterThan(retryAt);
  await engine.close();
  const other = host.node('n2', [breaks], store);
  taken();
  const forked = await other.fork({ tenant: 't', runId: source, mode: 'branch', fromSeq: 5_900 });
  expect(taken()).toBeLessThan(1_500);
  expect(
    (await base.log.read({ runId: forked.runId as RunId, after: 5_898, limit: 2 })).map(({ type }) => type),
  ).toEqual([rows[5_899]?.type, 'cairn.run.forked']);
  // It goes on from the state at its cut, which is not folded once more, and reads what its source did after the cut.
  taken();
  await host.seen(forked.runId as RunId, 'node.retried');
  expect(taken()).toBeLessThan(rows.length - 5_900 + 10);
  await other.close();
});
