import { expect, test } from 'vitest';
import { defineWorkflow } from '../engine/workflow/define-workflow.ts';
import { defineApp } from '../server/define-app.ts';
import { createTestHost } from './test-host.ts';

const publish = defineWorkflow({
  id: 'publish',
  nodes: { release: { type: 'core.approvalGate', config: { title: 'Publish?', requiredApprovals: 2 } } },
});
const app = defineApp({ workflows: [publish] });

test('each person has a vote of their own', async () => {
  await using host = await createTestHost(app, { people: ['ada', 'ben'] });
  const { runId } = await host.client.runs.create({ workflowId: 'publish' });
  for await (const { type } of host.client.follow(runId)) if (type === 'interrupt.requested') break;
  await host.as('ada').runs.answer(runId, 'release', { action: 'accept' });
  expect((await host.client.runs.get(runId)).status).toBe('waiting-approval');
  await host.as('ben').runs.answer(runId, 'release', { action: 'accept' });
  for await (const _ of host.client.follow(runId));
  expect((await host.client.runs.get(runId)).status).toBe('completed');
});

test('says how to add a person who is not there', async () => {
  await using host = await createTestHost(app);
  expect(() => host.as('ada')).toThrow('There is no person "ada" on this host.');
});

test('two hosts share nothing', async () => {
  await using first = await createTestHost(app);
  await using second = await createTestHost(app);
  const { runId } = await first.client.runs.create({ workflowId: 'publish' });
  await expect(second.client.runs.get(runId)).rejects.toMatchObject({ code: 'not_found' });
});
