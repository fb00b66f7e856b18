/** Sends the requests of `docs/reference/diff.md` to a host, in order, and holds the page to what it says is answered. */
import { createClient } from '@cairn/client';
import { expect, test } from 'vitest';
import { defineWorkflow } from '../../packages/host/src/engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { exchangesOf, holdTo, referencePage } from './exchanges.ts';

const greeting = defineWorkflow({
  id: 'greeting',
  version: '1',
  variables: { name: { type: 'string' }, greeting: { type: 'string' } },
  nodes: {
    greet: {
      type: 'core.setVariable',
      config: { name: 'greeting', expression: '"Hello, " + variables.name' },
    },
  },
});

test('every exchange of the page is answered as it says', async () => {
  const key = 'key-of-the-page-01';
  await using host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't' }] },
    workflows: [greeting],
    report: () => undefined,
  });
  const client = createClient({ url: host.url ?? '', key });
  const ended = async (name: string): Promise<string> => {
    const { runId } = await client.runs.create({ workflowId: 'greeting', inputs: { name } });
    await client.runs.wait(runId);
    return runId;
  };
  const exchanges = exchangesOf(referencePage('diff.md'));
  expect(exchanges.length).toBeGreaterThan(5);
  await holdTo(exchanges, host, key, { a: await ended('Ada'), b: await ended('Ben') });
});
