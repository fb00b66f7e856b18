import { agentInventory, type Discovery, packList } from '@cairn/protocol';
import { beforeEach, expect, test } from 'vitest';
import { promptWords, sampleAgent, sampleAgentId, samplePack, withAgent } from '../../test/kit/sample-pack.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import type { Store } from '../log/ports/store.ts';
import { createRedactor } from '../redaction/redactor.ts';
import { defineAgent } from './define-agent.ts';
import type { PackFiles } from './packs/pack-files.ts';
import { AgentRegistry, MAX_PACKS } from './registry.ts';

const discovery = {
  protocolVersion: '1.0',
  agents: { supported: false, modelClasses: ['classification'], manifestRuntime: { supported: false } },
  webhooks: { supported: true },
} as Discovery;

let store: Store;
let catalogue: AgentRegistry;

const registryOver = (over: Store, document = discovery, trust: { allowUnsigned: boolean } = { allowUnsigned: true }) =>
  new AgentRegistry({
    definitions: over.definitions,
    packs: over.packs,
    now: () => 1_000,
    policy: { trust: [], ...trust },
    discovery: document,
  });

beforeEach(() => {
  store = inMemoryStore();
  catalogue = registryOver(store);
});

/** A pack of this name with one agent of that id. */
const pack = (name: string, agentId = `${name}.one`, fields: object = {}): PackFiles =>
  samplePack({ name, agents: [{ ...sampleAgent, agentId }], ...fields });

const ids = async (tenant: string) => (await catalogue.agents(tenant)).map(({ agentId }) => agentId);

test('an agent is in the inventory of its tenant alone', async () => {
  const installed = await catalogue.install('t', samplePack());
  expect(installed).toMatchObject({ name: 'vendor.acme.desk', version: '1.0.0', scope: 'tenant', signedBy: null });
  expect(await ids('t')).toEqual([sampleAgentId]);
  expect([await ids('other'), await catalogue.packs('other')]).toEqual([[], []]);
  expect(packList.parse({ packs: await catalogue.packs('t') }).packs).toEqual([installed]);
});

test('the inventory says what the manifest says, and nothing of prompts and schemas', async () => {
  const full = {
    description: 'Sorts.',
    label: 'Desk',
    memoryShape: { scratchpad: true, longTerm: true },
    confidence: { defaultThreshold: 0.6 },
    promptOverrides: { user: 'prompt:secret-words' },
  };
  await catalogue.install('t', withAgent(full));
  const agents = await catalogue.agents('t');
  expect(agentInventory.parse({ agents, total: 1 }).agents).toEqual([
    {
      agentId: sampleAgentId,
      persona: 'Triage',
      label: 'Desk',
      description: 'Sorts.',
      modelClass: 'classification',
      packName: 'vendor.acme.desk',
      packVersion: '1.0.0',
      toolAllowlist: ['openwop:time'],
      hasHandoffSchemas: true,
      memoryShape: { scratchpad: true, longTerm: true },
      confidenceThreshold: 0.6,
      memoryDegraded: true,
      degradedMemoryDimensions: ['read', 'write', 'long-term-durability'],
    },
  ]);
  for (const word of [promptWords, 'prompts/', 'secret-words', 'subject', 'schemas/'])
    expect(JSON.stringify(agents)).not.toContain(word);
});

test('an agent that asks for little is listed with little', async () => {
  const { handoff: _, toolAllowlist: __, ...plain } = sampleAgent;
  await catalogue.install('t', samplePack({ agents: [plain] }));
  expect(await catalogue.agents('t')).toEqual([
    {
      agentId: sampleAgentId,
      persona: 'Triage',
      label: 'Triage',
      modelClass: 'classification',
      packName: 'vendor.acme.desk',
      packVersion: '1.0.0',
      toolAllowlist: [],
      hasHandoffSchemas: false,
    },
  ]);
});

test.each([
  [{}, ['read', 'write', 'long-term-durability']],
  [{ memory: { supported: true } }, ['long-term-durability']],
  [{ memory: { supported: true }, agents: { memoryBackends: ['long-term'] } }, undefined],
])('of the memories that an agent wishes for, a host with %j lacks %j', async (has, lacks) => {
  await catalogue.install('t', withAgent({ ...sampleAgent, memoryShape: { conversation: true, longTerm: true } }));
  const able = { ...discovery, ...has } as Discovery;
  const [listed] = await registryOver(store, able).agents('t');
  expect([listed?.memoryDegraded, listed?.degradedMemoryDimensions]).toEqual([lacks && true, lacks]);
});

test('what an agent wishes for and the host does not have is listed once, and goes when the host has it', async () => {
  const files = samplePack({
    peerDependencies: { 'mcp.serverMount': 'supported', sql: 'supported', webhooks: 'supported' },
    peerDependenciesMeta: { 'mcp.serverMount': { optional: true }, sql: { optional: true } },
    agents: [{ ...sampleAgent, requiresCapabilities: ['mcp.serverMount', 'host.workspace', 'webhooks'] }],
  });
  const installed = await catalogue.install('t', files);
  expect(installed.degraded).toEqual(['mcp.serverMount', 'sql']);
  expect((await catalogue.agents('t'))[0]?.degraded).toEqual(['host.workspace', 'mcp.serverMount', 'sql']);
  const able = {
    ...discovery,
    workspace: { supported: true },
    sql: { supported: true },
    mcp: { serverMount: { supported: true } },
  };
  expect((await registryOver(store, able as Discovery).agents('t'))[0]).not.toHaveProperty('degraded');
});

test('the packs of a tenant are there after a restart; those of the host come with it', async () => {
  await catalogue.install('t', samplePack());
  await catalogue.installForHost(pack('core.acme.tools'));
  expect(await ids('t')).toEqual(['core.acme.tools.one', sampleAgentId]);
  expect(await ids('other')).toEqual(['core.acme.tools.one']);
  expect((await catalogue.packs('other')).map(({ scope }) => scope)).toEqual(['host']);
  catalogue = registryOver(store);
  expect(await ids('t')).toEqual([sampleAgentId]);
});

test('the same pack again changes nothing; another version takes its place; other content is no version', async () => {
  await catalogue.install('t', samplePack());
  await catalogue.install('t', samplePack());
  const changed = samplePack({}, { 'prompts/triage.md': 'Other words.' });
  await expect(catalogue.install('t', changed)).rejects.toMatchObject({ code: 'conflict' });
  await catalogue.install('t', samplePack({ version: '1.1.0' }));
  expect((await catalogue.packs('t')).map(({ version }) => version)).toEqual(['1.1.0']);
  expect((await catalogue.agents('t')).map(({ packVersion }) => packVersion)).toEqual(['1.1.0']);
});

test('what an agent was stays under its hash when its pack is gone, so that a run can keep it', async () => {
  const kept = new Map<string, string>();
  const definitions = {
    ...store.definitions,
    put: async (hash: string, body: string) => {
      kept.set(hash, body);
      await store.definitions.put(hash, body);
    },
  };
  catalogue = registryOver({ ...store, definitions });
  await catalogue.install('t', samplePack());
  await catalogue.remove('t', 'vendor.acme.desk');
  expect(await ids('t')).toEqual([]);
  const [[hash, body] = []] = kept;
  expect(await store.definitions.get(hash ?? '')).toBe(body);
  expect(JSON.parse(body ?? '')).toMatchObject({ systemPrompt: promptWords });
});

test('only its tenant removes a pack, and nobody one of the host', async () => {
  await catalogue.install('t', samplePack());
  await catalogue.installForHost(pack('core.acme.tools'));
  const missing = { code: 'not_found' };
  await expect(catalogue.remove('other', 'vendor.acme.desk')).rejects.toMatchObject(missing);
  await expect(catalogue.remove('t', 'core.acme.tools')).rejects.toMatchObject(missing);
  await expect(catalogue.remove('t', 'vendor.acme.nothing')).rejects.toMatchObject(missing);
  expect(await ids('t')).toHaveLength(2);
  await catalogue.remove('t', 'vendor.acme.desk');
  await expect(catalogue.remove('t', 'vendor.acme.desk')).rejects.toMatchObject(missing);
});

test('one agent comes from one pack', async () => {
  await catalogue.install('t', pack('vendor.acme.desk', 'vendor.acme.desk.more.one'));
  const twin = pack('vendor.acme.desk.more', 'vendor.acme.desk.more.one');
  const details = { agentId: 'vendor.acme.desk.more.one', packName: 'vendor.acme.desk' };
  await expect(catalogue.install('t', twin)).rejects.toMatchObject({ code: 'conflict', details });
  await catalogue.install('other', twin);
});

test("a pack of the host's name is the host's, also when a tenant had one before", async () => {
  await catalogue.install('t', samplePack());
  await catalogue.installForHost(samplePack({ version: '2.0.0' }));
  expect((await catalogue.packs('t')).map(({ version, scope }) => [version, scope])).toEqual([['2.0.0', 'host']]);
  await expect(catalogue.install('t', samplePack({ version: '3.0.0' }))).rejects.toMatchObject({ code: 'conflict' });
  await expect(catalogue.installForHost(samplePack({ version: '2.0.1' }))).rejects.toMatchObject({ code: 'conflict' });
});

test('a pack that others depend on stays until they are gone', async () => {
  const dependent = pack('vendor.acme.app', 'vendor.acme.app.one', { dependencies: { 'vendor.acme.desk': '^1.0.0' } });
  await expect(catalogue.install('t', dependent)).rejects.toMatchObject({ code: 'pack_version_not_found' });
  await catalogue.install('other', samplePack());
  await expect(catalogue.install('t', dependent)).rejects.toMatchObject({ code: 'pack_version_not_found' });
  await catalogue.install('t', samplePack());
  await catalogue.install('t', dependent);
  await expect(catalogue.remove('t', 'vendor.acme.desk')).rejects.toMatchObject({ code: 'conflict' });
  // Neither of two packs that need each other could be removed.
  const back = samplePack({ version: '1.1.0', dependencies: { 'vendor.acme.app': '*' } });
  await expect(catalogue.install('t', back)).rejects.toMatchObject({ code: 'pack_dependency_cycle' });
  await catalogue.remove('t', 'vendor.acme.app');
  await catalogue.remove('t', 'vendor.acme.desk');
});

test('of two that come at once and claim one agent, one is refused', async () => {
  const twins = [
    catalogue.install('t', pack('vendor.acme.desk', 'vendor.acme.desk.more.one')),
    catalogue.install('t', pack('vendor.acme.desk.more', 'vendor.acme.desk.more.one')),
  ];
  const outcomes = await Promise.allSettled(twins);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(await catalogue.packs('t')).toHaveLength(1);
});

test('what was refused left nothing behind', async () => {
  catalogue = registryOver(store, discovery, { allowUnsigned: false });
  await expect(catalogue.install('t', samplePack())).rejects.toMatchObject({ code: 'pack_signature_invalid' });
  await expect(catalogue.installForHost(samplePack())).rejects.toMatchObject({ code: 'pack_signature_invalid' });
  expect([await catalogue.packs('t'), await store.packs.list('t')]).toEqual([[], []]);
});

test('a tenant has a bounded number of packs; versions of one are one, and other tenants have their own', async () => {
  for (let i = 0; i < MAX_PACKS; i += 1) await catalogue.install('t', pack(`vendor.acme.p${i}`));
  const more = pack('vendor.acme.more');
  await expect(catalogue.install('t', more)).rejects.toMatchObject({
    code: 'conflict',
    details: { maxPacks: MAX_PACKS },
  });
  await catalogue.install('t', pack('vendor.acme.p7', 'vendor.acme.p7.one', { version: '2.0.0' }));
  await catalogue.install('other', more);
  await catalogue.remove('t', 'vendor.acme.p7');
  await catalogue.install('t', more);
});

const desk = defineAgent({
  id: 'host:desk',
  persona: 'Desk',
  instructions: promptWords,
  tools: ['openwop:time'],
  result: { type: 'object' },
});

test('an agent of code is in the inventory of everybody, with the host in the place of a pack', async () => {
  await catalogue.defineOwn([desk], '9.8.7');
  await catalogue.install('t', samplePack());
  expect(await ids('t')).toEqual(['host:desk', sampleAgentId]);
  expect(await catalogue.agents('other')).toEqual([
    {
      agentId: 'host:desk',
      persona: 'Desk',
      label: 'Desk',
      modelClass: 'general',
      packName: 'host',
      packVersion: '9.8.7',
      toolAllowlist: ['openwop:time'],
      hasHandoffSchemas: true,
    },
  ]);
  expect((await catalogue.packs('t')).map(({ name }) => name)).toEqual(['vendor.acme.desk']);
  expect(JSON.stringify(await catalogue.agents('t'))).not.toContain(promptWords);
});

test('no two agents of code have one id', async () => {
  const refusal = { code: 'config_invalid', message: 'Two agents are called host:desk.' };
  await expect(catalogue.defineOwn([desk, desk], '1.0.0')).rejects.toMatchObject(refusal);
});

test("an agent of code is the host's: no pack brings it again, and a tenant's that had it before is hidden", async () => {
  const own = defineAgent({ id: sampleAgentId, persona: 'Own', instructions: 'Ours.' });
  await catalogue.install('t', samplePack());
  await catalogue.defineOwn([own], '1.0.0');
  expect((await catalogue.agents('t')).map(({ persona }) => persona)).toEqual(['Own']);
  const refusal = { code: 'conflict', details: { agentId: sampleAgentId } };
  await expect(catalogue.install('other', samplePack())).rejects.toMatchObject(refusal);
  await expect(catalogue.installForHost(samplePack())).rejects.toMatchObject(refusal);
});

test('what holds a secret of the host is not stored', async () => {
  const secret = 'correct-horse-battery';
  const redactor = createRedactor([{ name: 'spare', value: secret }]);
  const policy = { trust: [], allowUnsigned: true };
  catalogue = new AgentRegistry({
    definitions: store.definitions,
    packs: store.packs,
    now: () => 1_000,
    policy,
    discovery,
    redactor,
  });
  const refusal = { code: 'validation_error', details: { path: expect.any(Array) } };
  const inPrompt = samplePack({}, { 'prompts/triage.md': `Say ${secret}.` });
  await expect(catalogue.install('t', inPrompt)).rejects.toMatchObject(refusal);
  await expect(catalogue.install('t', samplePack({ description: secret }))).rejects.toMatchObject(refusal);
  const own = defineAgent({ id: 'host:desk', persona: 'Desk', instructions: secret });
  await expect(catalogue.defineOwn([own], '1.0.0')).rejects.toMatchObject(refusal);
  expect([await catalogue.packs('t'), await catalogue.agents('t')]).toEqual([[], []]);
});
