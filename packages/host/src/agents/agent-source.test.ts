import type { Discovery } from '@cairn/protocol';
import { beforeEach, expect, test, vi } from 'vitest';
import { promptWords, sampleAgent, sampleAgentId, samplePack } from '../../test/kit/sample-pack.ts';
import type { AgentSource } from '../engine/ports.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import type { Store } from '../log/ports/store.ts';
import { testDefinition } from './agent-definition.kit.ts';
import { createAgentSource } from './agent-source.ts';
import { defineAgent } from './define-agent.ts';
import { AgentRegistry } from './registry.ts';

const discovery = { protocolVersion: '1.0', agents: { modelClasses: ['classification', 'chat'] } };

let store: Store;
let catalogue: AgentRegistry;
let agentSource: AgentSource;

beforeEach(() => {
  store = inMemoryStore();
  catalogue = new AgentRegistry({
    definitions: store.definitions,
    packs: store.packs,
    now: () => 1_000,
    policy: { trust: [], allowUnsigned: true },
    discovery: discovery as Discovery,
  });
  agentSource = createAgentSource(catalogue, store.definitions);
});

const other = { ...sampleAgent, agentId: 'vendor.acme.desk.writer', persona: 'Writer', modelClass: 'writing' };

test('an agent is pinned with everybody of its pack, and nobody else', async () => {
  await catalogue.install('t', samplePack({ agents: [sampleAgent, other] }));
  await catalogue.install(
    't',
    samplePack({ name: 'vendor.acme.app', agents: [{ ...other, agentId: 'vendor.acme.app.a' }] }),
  );
  const pins = await agentSource.pin('t', [sampleAgentId]);
  expect(Object.keys(pins).sort()).toEqual([sampleAgentId, other.agentId]);
});

test('a pin says who the agent is on the wire: a closed AgentRef, with the class as references name it', async () => {
  await catalogue.install('t', samplePack({ version: '1.2.0', agents: [other] }));
  const pins = await agentSource.pin('t', [other.agentId]);
  expect(pins[other.agentId]?.ref).toEqual({
    agentId: other.agentId,
    name: 'Writer',
    modelClass: 'chat',
    version: '1.2.0',
    sourceManifestId: other.agentId,
  });
});

test('agents of the host are pinned without a look at the packs of the tenant, others with one', async () => {
  await catalogue.defineOwn([defineAgent({ id: 'host:desk', persona: 'Desk', instructions: 'Help.' })], '9.8.7');
  await catalogue.install('t', samplePack());
  const list = vi.spyOn(store.packs, 'list');
  await agentSource.pin('t', ['host:desk']);
  await catalogue.hashOf('t', 'host:desk');
  expect(list).not.toHaveBeenCalled();
  expect(Object.keys(await agentSource.pin('t', ['host:desk'], [sampleAgentId]))).toContain(sampleAgentId);
  expect(list).toHaveBeenCalledTimes(1);
});

test('an agent of code is pinned like one of a pack, and names no manifest', async () => {
  const agents = ['host:desk', 'host:desk.writer'].map((id) => defineAgent({ id, persona: 'Desk', instructions: id }));
  await catalogue.defineOwn(agents, '9.8.7');
  const pins = await agentSource.pin('t', ['host:desk']);
  expect(Object.keys(pins)).toEqual(['host:desk', 'host:desk.writer']);
  expect(pins['host:desk']?.ref).toEqual({ agentId: 'host:desk', name: 'Desk', modelClass: 'chat', version: '9.8.7' });
  expect(await agentSource.definition(pins['host:desk']?.hash ?? '')).toEqual({
    packName: 'host',
    packVersion: '9.8.7',
    manifest: agents[0]?.definition.manifest,
    systemPrompt: 'host:desk',
  });
});

test('an agent of another tenant looks like one that nobody has', async () => {
  await catalogue.install('other', samplePack());
  const refusal = async (agentId: string) => {
    const error = await agentSource.pin('t', [agentId]).catch((thrown: unknown) => thrown);
    return JSON.parse(
      JSON.stringify({ ...(error as object), message: (error as Error).message }).replaceAll(agentId, 'X'),
    );
  };
  expect(await refusal(sampleAgentId)).toEqual(await refusal('vendor.acme.none.agent'));
  await expect(agentSource.pin('t', [sampleAgentId])).rejects.toMatchObject({
    code: 'not_found',
    details: { agentId: sampleAgentId },
  });
});

test('a definition is what it was when it was pinned, whatever becomes of its pack', async () => {
  await catalogue.install('t', samplePack());
  const [first] = Object.values(await agentSource.pin('t', [sampleAgentId]));
  await catalogue.install('t', samplePack({ version: '2.0.0' }, { 'prompts/triage.md': 'Other words.' }));
  const [second] = Object.values(await agentSource.pin('t', [sampleAgentId]));
  await catalogue.remove('t', 'vendor.acme.desk');
  await expect(agentSource.pin('t', [sampleAgentId])).rejects.toMatchObject({ code: 'not_found' });
  const fresh = createAgentSource(catalogue, store.definitions);
  expect(await fresh.definition(first?.hash ?? '')).toMatchObject({ packVersion: '1.0.0', systemPrompt: promptWords });
  expect(await fresh.definition(second?.hash ?? '')).toMatchObject({
    packVersion: '2.0.0',
    systemPrompt: 'Other words.',
  });
});

test('a definition is read from the store once, until others take its place in memory', async () => {
  const read: string[] = [];
  const get = async (hash: string) => {
    read.push(hash);
    return JSON.stringify(
      testDefinition({ systemPrompt: hash.startsWith('other') ? hash.padEnd(100_000, '.') : hash }),
    );
  };
  agentSource = createAgentSource(catalogue, { get });
  for (let i = 0; i < 3; i += 1) await agentSource.definition('first');
  expect(read).toEqual(['first']);
  for (let i = 0; i < 100; i += 1) await agentSource.definition(`other ${i}`);
  await agentSource.definition('first');
  expect(read.filter((hash) => hash === 'first')).toHaveLength(1);
  for (let i = 100; i < 300; i += 1) await agentSource.definition(`other ${i}`);
  await agentSource.definition('first');
  expect(read.filter((hash) => hash === 'first')).toHaveLength(2);
});

test('a definition is read as it is stored, and what is no definition is refused', async () => {
  const whole = testDefinition({ rehearsal: { turns: [] }, taskSchema: { type: 'object' } });
  const stored = new Map([
    ['whole', { ...whole, later: 'kept' }],
    ['bare', { systemPrompt: 'Help.' }],
    ['wrong', { ...whole, manifest: { ...whole.manifest, modelClass: 'psychic' } }],
  ]);
  agentSource = createAgentSource(catalogue, { get: async (hash) => JSON.stringify(stored.get(hash)) });
  expect(await agentSource.definition('whole')).toEqual(stored.get('whole'));
  for (const hash of ['bare', 'wrong']) {
    await expect(agentSource.definition(hash)).rejects.toMatchObject({
      code: 'internal_error',
      details: { definitionHash: hash },
    });
  }
});

test('a definition that is not in the store is told as that', async () => {
  await expect(agentSource.definition('gone')).rejects.toMatchObject({
    code: 'not_found',
    details: { definitionHash: 'gone' },
  });
});
