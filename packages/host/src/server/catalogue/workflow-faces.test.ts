import type { WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { chain } from '../sample-workflows.kit.ts';
import { WorkflowFaces } from './workflow-faces.ts';

const record = (hash: string) => ({ tenant: 't', workflowId: 'a', version: '1', hash, registeredAt: 0 });

function faces(more: Partial<WorkflowDefinition> = {}) {
  let reads = 0;
  const engine = {
    workflow: async () => {
      reads += 1;
      return { ...chain('a', { typeId: 'core.noop' }), ...more };
    },
  };
  return { faces: new WorkflowFaces(engine), reads: () => reads };
}

test('a definition is read once for all lists, also for those that are made at the same time', async () => {
  const { faces: kept, reads } = faces();
  await Promise.all(Array.from({ length: 20 }, () => kept.of(record('h1'))));
  await kept.of(record('h1'));
  expect(reads()).toBe(1);
  await kept.of(record('h2'));
  expect(reads()).toBe(2);
});

test('nothing of a definition is kept but what is shown, and of that so much', async () => {
  const variables = Array.from({ length: 3 }, (_, i) => ({
    name: `v${i}`,
    type: 'string',
    defaultValue: 'x'.repeat(30_000),
  }));
  const { faces: kept } = faces({ variables, description: 'd'.repeat(9_000) } as Partial<WorkflowDefinition>);
  expect(await kept.of(record('h'))).toEqual({ id: 'a', name: 'a', description: 'd'.repeat(2_000), inputs: null });
});
