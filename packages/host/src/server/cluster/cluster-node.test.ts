import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { nodeOf } from './cluster.kit.ts';

test('a turn leaves nothing in the store, also when its work failed: there is a name for each context', async () => {
  const { cluster } = inMemoryStore();
  const node = nodeOf({ cluster });
  const failed = node.alone('context a', async () => Promise.reject(new Error('no')));
  await expect(failed).rejects.toThrow('no');
  expect(await node.alone('context a', async () => 'done')).toBe('done');
  expect(await cluster.hold({ name: 'context a', owner: 'b', now: 0, until: 1 })).toBe(1);
  node.close();
});
