/** Unknown settings are refused when a workflow is registered. Definitions that are stored already still run. */
import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { definitionText } from '../../engine/workflow/registration.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { createHost } from '../create-host.ts';

const key = 'a-key-for-these-tests';

const node = (id: string, typeId: string, config: JsonObject, settings: JsonObject = {}) => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config,
  inputs: {},
  settings,
});

/** The compiler would refuse it. */
const misspelt: JsonObject = { maxRetrys: 3 };

/** A definition that an earlier host accepted: it has settings that have no effect. */
const older: WorkflowDefinition = {
  id: 'older',
  name: 'Older',
  version: '1',
  nodes: [
    node('gate', 'core.approvalGate', { requiredApproval: 2, actions: 'accept' }),
    node('ask', 'core.interrupt', {
      kind: 'approval',
      data: { artifactId: 'a', artifactType: 'doc', title: 'Sign', actions: ['accept'], requiredAprovals: 2 },
      urgent: true,
    }),
    node('rest', 'core.noop', { nap: 1 }, { retry: { maxAttemps: 3 }, timeoutMS: 1 }),
  ],
  edges: [
    { id: 'e1', sourceNodeId: 'gate', targetNodeId: 'ask' },
    { id: 'e2', sourceNodeId: 'ask', targetNodeId: 'rest' },
  ],
  triggers: [],
  variables: [],
  metadata: {},
  settings: misspelt,
};

async function folderWith(definition: WorkflowDefinition): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-closed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = await openSqliteStore({ folder, onFault: () => undefined, elapsedMs: () => 0 });
  const body = definitionText(definition);
  const record = { tenant: 't', workflowId: definition.id, version: definition.version, registeredAt: 1 };
  await store.definitions.put(hash('sha256', body), body);
  await store.definitions.putWorkflow({ ...record, hash: hash('sha256', body) });
  await store.close();
  return folder;
}

async function served(data: string) {
  const host = await createHost({ report: () => undefined, config: { port: 0, data, keys: [{ key, tenant: 't' }] } });
  onTestFinished(() => host.close());
  return createClient({ url: host.url ?? '', key });
}

test('a stored definition with settings that nobody knows still runs to its end', async () => {
  const client = await served(await folderWith(older));
  const { runId } = await client.runs.create({ workflowId: 'older' });
  for (const gate of ['gate', 'ask']) await client.runs.answer(runId, gate, { action: 'accept' });
  expect(await client.runs.get(runId)).toMatchObject({ status: 'completed' });
});

test('the same definition is refused when it is registered, whether or not runs use it', async () => {
  const client = await served(await folderWith(older));
  const refused = {
    code: 'validation_error',
    details: {
      problems: [
        expect.stringContaining('nodes[0].config.actions (node gate)'),
        expect.stringContaining('requiredApproval (node gate): is not known; did you mean requiredApprovals?'),
        expect.stringContaining('data.requiredAprovals (node ask): is not known; did you mean requiredApprovals?'),
        expect.stringContaining('config.urgent (node ask): is not known'),
        expect.stringContaining('config.nap (node rest): is not known'),
        expect.stringContaining('retry.maxAttemps (node rest): is not known; did you mean maxAttempts?'),
        expect.stringContaining('settings.timeoutMS (node rest): is not known; did you mean timeoutMs?'),
        expect.stringContaining('settings.maxRetrys: is not known; did you mean maxRetries?'),
      ],
    },
  };
  await expect(client.workflows.register(older)).rejects.toMatchObject(refused);
  await client.runs.create({ workflowId: 'older' });
  await expect(client.workflows.register(older)).rejects.toMatchObject(refused);
});
