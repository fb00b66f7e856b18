import { expect, test } from 'vitest';
import { bench } from '../../../test/kit/engine-bench.ts';
import { defineWorkflow, fixed } from './define-workflow.ts';

test('a host writes the same bytes before and after a restart, whatever the order of keys in a definition', async () => {
  const { node, begin, rows, seen } = bench();
  const definition = defineWorkflow({
    id: 'flow',
    version: '1',
    nodes: { n: { type: 'core.identity', inputs: { z: fixed({ b: 1, a: { d: 2, c: 3 } }), y: fixed(1) } } },
  });
  const written = async (owner: string, isNew: boolean) => {
    const engine = node(owner);
    const started = { tenant: 't', workflowId: 'flow', inputs: {}, options: {} };
    const runId = isNew ? await begin(engine, definition) : (await engine.start(started)).runId;
    await seen(runId, 'run.completed');
    await engine.close();
    return (await rows(runId)).filter(({ type }) => type.startsWith('node.')).map(({ payload }) => payload);
  };
  const first = await written('a', true);
  expect(first[0]).toContain('"inputs":{');
  expect(await written('b', false)).toEqual(first);
});
