import { workflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { drawWorkflow } from './workflows.ts';

const drawn = Array.from({ length: 300 }, (_, seed) => drawWorkflow(createRandom(seed), `wf-${seed}`, ['wf-below']));

test('draws definitions that have the shape of the wire', () => {
  for (const definition of drawn) expect(workflowDefinition.safeParse(definition).error).toBeUndefined();
});

test('draws every node type, trigger rule and kind of condition it knows', () => {
  const types = new Set(drawn.flatMap(({ nodes }) => nodes.map(({ typeId }) => typeId)));
  const rules = new Set(drawn.flatMap(({ edges }) => edges.map(({ triggerRule }) => triggerRule ?? 'default')));
  const conditions = new Set(drawn.flatMap(({ edges }) => edges.map(({ condition }) => condition?.type ?? 'none')));
  expect([types.size, rules.size, conditions.size]).toEqual([25, 6, 6]);
});

test('draws the same workflow from the same seed', () => {
  expect(drawWorkflow(createRandom(5), 'wf-5', ['wf-below'])).toEqual(drawn[5]);
});
