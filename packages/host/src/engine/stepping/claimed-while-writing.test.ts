import { expect, test } from 'vitest';
import { bench, chain, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import type { Append } from '../../log/ports/event-log.ts';

/** All that follows from what was just done. */
const quiet = async () => {
  for (let turn = 0; turn < 5; turn++) await settled();
};

test('a run that is claimed for its timer while an answer is written starts what the answer leads to, and asks nobody about it', async () => {
  const { store, clock, node, begin, seen, types } = bench();
  const write = heldStep('write', 'write');
  let isAnswered = false;
  const append = async (request: Append) => {
    if (request.rows.some(({ type }) => type === 'interrupt.resolved')) {
      isAnswered = true;
      // The scheduler is quicker: the lease is this node's when the answer takes it.
      for (const wake of clock.due()) clock.fire(wake);
      await quiet();
    }
    return store.log.append(request);
  };
  const engine = node('a', [write.step], { ...store, log: { ...store.log, append } });
  await engine.open();
  const gate = { typeId: 'core.approvalGate', config: { title: 'Go on?' } };
  const flow = chain(gate, 'local.step.write', { typeId: 'core.delay', config: { delayMs: 40 } });
  const runId = await begin(engine, { ...flow, edges: flow.edges.slice(0, 1) });
  await seen(runId, 'node.suspended');
  await quiet();
  clock.pass(40);
  await engine.answer({ tenant: 't', runId, nodeId: 'n1', value: { action: 'accept' }, principal: 'ada' });
  await quiet();
  expect(isAnswered).toBe(true);
  expect(write.calls).toHaveLength(1);
  expect((await types(runId)).filter((type) => type === 'interrupt.requested')).toHaveLength(1);
  write.calls[0]?.resolve({});
  await seen(runId, 'run.completed');
  await engine.close();
});
