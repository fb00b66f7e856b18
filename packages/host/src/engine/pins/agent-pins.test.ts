import { hash } from 'node:crypto';
import type { AgentRef, Discovery, JsonObject, RunId, WorkflowDefinition } from '@cairn/protocol';
import { beforeEach, expect, test } from 'vitest';
import { actingNode } from '../../../test/kit/acting-node.ts';
import { promptWords, sampleAgent, sampleAgentId, samplePack } from '../../../test/kit/sample-pack.ts';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import { createAgentSource } from '../../agents/agent-source.ts';
import { AgentRegistry } from '../../agents/registry.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Engine } from '../engine.ts';
import { createEngine } from '../stepping/runtime.ts';
import { defineWorkflow, type NodeOptions } from '../workflow/define-workflow.ts';

const discovery = { protocolVersion: '1.0', agents: { modelClasses: ['classification'] } };
const clock = new VirtualClock(1_000_000);

let store: Store;
let catalogue: AgentRegistry;
let engine: Engine;
let ids = 0;

/** A process over the store: all that is not in it is new. */
function started(): Engine {
  catalogue = new AgentRegistry({
    definitions: store.definitions,
    packs: store.packs,
    now: () => 1_000,
    policy: { trust: [], allowUnsigned: true },
    discovery: discovery as Discovery,
  });
  return createEngine({
    store,
    clock,
    uniqueId: () => String(++ids),
    sha256: (text, encoding) => hash('sha256', text, encoding),
    owner: `process ${ids}`,
    steps: [],
    nodeTypes: [actingNode],
    agents: createAgentSource(catalogue, store.definitions),
    limits: { maxNodeExecutions: 100, maxRunDurationMs: null },
    report: () => undefined,
  });
}

beforeEach(async () => {
  store = inMemoryStore();
  engine = started();
  await catalogue.install('t', samplePack());
});

const asking: NodeOptions = { type: 'cairn.agent', agent: sampleAgentId, config: { asks: true } };

const flow = (...nodes: readonly NodeOptions[]): WorkflowDefinition =>
  defineWorkflow({ id: 'flow', version: '1', nodes: Object.fromEntries(nodes.map((node, i) => [`n${i + 1}`, node])) });

async function begun(definition: WorkflowDefinition, tenant = 't'): Promise<RunId> {
  await engine.register(tenant, definition);
  return (await engine.start({ tenant, workflowId: definition.id, inputs: {}, options: {} })).runId;
}

const answer = (runId: RunId, nodeId: string) => engine.answer({ tenant: 't', runId, nodeId, value: {} });

const payloads = async (runId: RunId, type: string): Promise<readonly JsonObject[]> =>
  (await store.log.read({ runId, after: -1, limit: 1_000 }))
    .filter((row) => row.type === type)
    .map((row) => JSON.parse(row.payload) as JsonObject);

const ref = {
  agentId: sampleAgentId,
  name: 'Triage',
  modelClass: 'classification',
  version: '1.0.0',
  sourceManifestId: sampleAgentId,
};

test('a run records its agents as it starts, and every row and the snapshot name the agent as it was then', async () => {
  const runId = await begun(flow(asking));
  const [{ agents } = {}] = await payloads(runId, 'run.started');
  expect(agents).toEqual({ [sampleAgentId]: { hash: expect.stringMatching(/^[0-9a-f]{64}$/), ref } });
  expect((await payloads(runId, 'node.started'))[0]?.agent).toEqual(ref);
  expect((await engine.snapshot('t', runId)).agent).toEqual(ref);
  await answer(runId, 'n1');
  expect((await payloads(runId, 'node.completed'))[0]?.agent).toEqual(ref);
  expect((await engine.snapshot('t', runId)).agent).toEqual(ref);
});

test.each([
  ['replaced', () => catalogue.install('t', samplePack({ version: '2.0.0' }, { 'prompts/triage.md': 'Other words.' }))],
  ['removed', () => catalogue.remove('t', 'vendor.acme.desk')],
])('a run keeps its agent when the pack is %s, also after a restart', async (_, change) => {
  const runId = await begun(flow(asking, asking));
  await change();
  await answer(runId, 'n1');
  await engine.close();
  engine = started();
  await answer(runId, 'n2');
  const { status, nodeStates, agent } = await engine.snapshot('t', runId);
  expect([status, agent]).toEqual(['completed', ref]);
  for (const node of ['n1', 'n2']) {
    expect(nodeStates?.[node]).toMatchObject({ outputs: { prompts: { [sampleAgentId]: promptWords } } });
  }
  expect((await payloads(runId, 'node.completed')).map((row) => row.agent)).toEqual([ref, ref]);
});

test('a new run has the agent as it is now', async () => {
  await catalogue.install('t', samplePack({ version: '2.0.0' }, { 'prompts/triage.md': 'Other words.' }));
  const runId = await begun(flow({ type: 'cairn.agent', agent: sampleAgentId }));
  expect(await engine.snapshot('t', runId)).toMatchObject({
    agent: { version: '2.0.0' },
    outputs: { prompts: { [sampleAgentId]: 'Other words.' } },
  });
});

test('how a node shares what is said is no part of who acts in it', async () => {
  const runId = await begun(flow({ ...asking, config: { asks: true, agentSharing: 'shared:desk' } }));
  expect((await payloads(runId, 'node.started'))[0]?.agent).toEqual(ref);
});

test('a node that shares in a way nobody knows is not registered', async () => {
  await expect(begun(flow({ ...asking, config: { agentSharing: 'everything' } }))).rejects.toMatchObject({
    code: 'validation_error',
    message: expect.stringContaining(
      'nodes[0].config.agentSharing (node n1): must be isolated, shared, or shared:<group>',
    ),
  });
});

test('a node that does not act only carries the name it was given, whoever has such an agent', async () => {
  const agent = { agentId: 'vendor.acme.none.agent', modelClass: 'chat' as const };
  const definition = flow({ type: 'core.identity' });
  const runId = await begun({ ...definition, nodes: definition.nodes.map((node) => ({ ...node, agent })) });
  const [{ agents } = {}] = await payloads(runId, 'run.started');
  expect(agents).toBeUndefined();
  expect((await payloads(runId, 'node.completed'))[0]?.agent).toEqual(agent);
  expect((await engine.snapshot('t', runId)).agent).toEqual(agent);
});

/** A workflow whose only node names an agent without acting as it. */
const naming = (agent: AgentRef): WorkflowDefinition => {
  const definition = flow({ type: 'core.identity' });
  return { ...definition, nodes: definition.nodes.map((node) => ({ ...node, agent })) };
};

test('what a definition says of a known agent counts for nothing: the ref of the registry stands in full', async () => {
  const forged: AgentRef = {
    agentId: sampleAgentId,
    name: 'The boss',
    modelClass: 'vision',
    memoryRef: 'somebody-else',
    version: '9.9.9',
    sourceManifestId: 'vendor.other.desk.agent',
  };
  const runId = await begun(naming(forged));
  expect((await payloads(runId, 'node.started'))[0]?.agent).toEqual(ref);
  expect((await payloads(runId, 'node.completed'))[0]?.agent).toEqual(ref);
  expect((await engine.snapshot('t', runId)).agent).toEqual(ref);
});

test('an unknown agent keeps its name, and neither a memory nor a manifest that the definition only claims', async () => {
  const agentId = 'vendor.acme.none.agent';
  const claimed = { memoryRef: 'somebody-else', sourceManifestId: 'vendor.other.desk.agent' };
  const runId = await begun(naming({ agentId, name: 'Nobody', ...claimed }));
  expect((await payloads(runId, 'node.started'))[0]?.agent).toEqual({ agentId, name: 'Nobody' });
  expect((await engine.snapshot('t', runId)).agent).toEqual({ agentId, name: 'Nobody' });
});

test('an unknown agent that comes from a known manifest keeps that source', async () => {
  const agent = { agentId: 'vendor.acme.none.agent', sourceManifestId: sampleAgentId };
  const runId = await begun(naming({ ...agent, memoryRef: 'somebody-else' }));
  expect((await payloads(runId, 'node.completed'))[0]?.agent).toEqual(agent);
});

test('an agent of another tenant is an unknown agent', async () => {
  const runId = await begun(naming({ agentId: sampleAgentId, name: 'Mine' }), 'other');
  expect((await payloads(runId, 'node.started'))[0]?.agent).toEqual({ agentId: sampleAgentId, name: 'Mine' });
});

test('a run whose agent is not there does not begin, and is told which node asks for whom', async () => {
  const definition = flow({ type: 'core.noop' }, { type: 'cairn.agent', agent: 'vendor.acme.none.agent' });
  await expect(begun(definition)).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no agent "vendor.acme.none.agent". Node n2 of the workflow flow acts as it.',
    details: { agentId: 'vendor.acme.none.agent', nodeId: 'n2', workflowId: 'flow' },
  });
  expect((await store.runIndex.list({ tenant: 't', limit: 9 })).runs).toEqual([]);
});

test('a disabled node needs no agent', async () => {
  const runId = await begun(flow({ type: 'cairn.agent', agent: 'vendor.acme.none.agent', disabled: true }));
  expect((await engine.snapshot('t', runId)).status).toBe('completed');
});

test('a node that asks for a version of its agent gets that version, or the run does not begin', async () => {
  const versioned = (version: string): WorkflowDefinition => {
    const definition = flow({ type: 'cairn.agent', agent: sampleAgentId });
    const agent = { agentId: sampleAgentId, version };
    return { ...definition, version, nodes: definition.nodes.map((node) => ({ ...node, agent })) };
  };
  expect((await engine.snapshot('t', await begun(versioned('1.0.0')))).status).toBe('completed');
  await expect(begun(versioned('1.1.0'))).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('in version "1.1.0"; here it is in version 1.0.0'),
    details: { nodeId: 'n1' },
  });
});

test('a run knows everybody of the packs of its agents, and forgets nobody', async () => {
  const writer = { ...sampleAgent, agentId: 'vendor.acme.desk.writer', systemPromptRef: 'prompts/writer.md' };
  const both = { version: '1.1.0', agents: [sampleAgent, writer] };
  await catalogue.install('t', samplePack(both, { 'prompts/writer.md': 'Write.' }));
  const runId = await begun(flow(asking));
  await catalogue.install('t', samplePack({ version: '1.2.0' }));
  await answer(runId, 'n1');
  expect((await engine.snapshot('t', runId)).outputs).toMatchObject({
    prompts: { [sampleAgentId]: promptWords, 'vendor.acme.desk.writer': 'Write.' },
  });
});
