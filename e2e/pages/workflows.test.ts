/** Keeps the pages about workflows and node types true: they are made from the schemas, and their examples run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Client, createClient } from '../../packages/client/src/index.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { type NodeTypeDescriptor, parseAuthoredWorkflow } from '../../packages/protocol/src/index.ts';
import { exampleAgents, exampleChildren, nodeExamples } from './node-examples.ts';
import { builtInTypes, nodesPage, workflowsPage } from './workflow-pages.ts';
import { greetAsJson } from './workflow-prose.ts';

const key = 'a-key-for-these-tests';
const page = (name: string) => readFileSync(join(import.meta.dirname, '../../docs/reference', name), 'utf8');

let types: readonly NodeTypeDescriptor[] = [];
beforeAll(async () => {
  types = await builtInTypes();
});

async function served(): Promise<Client> {
  const a2a = { peers: [{ name: 'desk', url: 'http://127.0.0.1:9' }] };
  const config = { port: 0, keys: [{ key, tenant: 't', principal: 'ada' }], a2a };
  const workflows = [...exampleChildren, parseAuthoredWorkflow(greetAsJson)];
  const options = { config, workflows, agents: exampleAgents, report: () => undefined };
  const host = await createHostOver(inMemoryStore(), options);
  onTestFinished(() => host.close());
  return createClient({ url: host.url ?? '', key });
}

test('the pages are fresh (npm run docs:workflows)', () => {
  expect(page('nodes.md')).toBe(nodesPage(types));
  expect(page('workflows.md')).toBe(workflowsPage());
});

test('every setting of every built-in type is explained, and nothing else is', () => {
  for (const { typeId, configSchema, summary } of types) {
    const variants = [configSchema.oneOf ?? [configSchema]].flat() as readonly {
      properties?: Record<string, { description?: string }>;
    }[];
    const settings = variants.flatMap(({ properties = {} }) => Object.entries(properties));
    expect([typeId, summary]).toEqual([typeId, expect.any(String)]);
    expect([typeId, settings.filter(([, { description }]) => description === undefined)]).toEqual([typeId, []]);
  }
});

test('every built-in type has an example', () => {
  expect(Object.keys(nodeExamples).sort()).toEqual(types.map(({ typeId }) => typeId));
});

describe('the example runs', () => {
  test.each(Object.entries(nodeExamples))('%s', async (typeId, { workflow, inputs, answers, status, variables }) => {
    expect(workflow.nodes.map((node) => node.typeId)).toContain(typeId);
    const client = await served();
    await client.workflows.register(workflow);
    const { runId } = await client.runs.create({
      workflowId: workflow.id,
      ...(inputs === undefined ? {} : { inputs }),
    });
    for (const [nodeId, answer] of Object.entries(answers ?? {})) await client.runs.answer(runId, nodeId, answer);
    const ended = await client.runs.wait(runId);
    expect(ended.status).toBe(status ?? 'completed');
    if (variables !== undefined) expect(ended.variables).toEqual(variables);
  });

  test('and so does the JSON of the page about workflows', async () => {
    const client = await served();
    const { runId } = await client.runs.create({ workflowId: 'greet-all', inputs: { name: 'Ada' } });
    await client.runs.answer(runId, 'ask', { action: 'accept' });
    expect(await client.runs.wait(runId)).toMatchObject({ variables: { greeting: 'Hello, Ada' } });
  });
});
