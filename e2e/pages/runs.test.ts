/** Sends the requests of `docs/reference/runs.md` to a host, in order, and holds the page to what it says is answered. */
import type { WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { exchangesOf, holdTo, referencePage } from './exchanges.ts';

const slow: WorkflowDefinition = {
  id: 'slow',
  name: 'slow',
  version: '1',
  nodes: [
    {
      id: 'wait',
      typeId: 'core.delay',
      name: 'wait',
      position: { x: 0, y: 0 },
      config: { delayMs: 3_600_000 },
      inputs: {},
    },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

test('every exchange of the page is answered as it says', async () => {
  const key = 'key-of-the-page-01';
  await using host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't' }] },
    workflows: [slow],
    report: () => undefined,
  });
  const exchanges = exchangesOf(referencePage('runs.md'));
  expect(exchanges.length).toBeGreaterThan(10);
  await holdTo(exchanges, host, key);
});
