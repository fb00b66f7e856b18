import { agentInventory, type Discovery, packList } from '@cairn/protocol';
import { beforeEach, expect, test } from 'vitest';
import { memoryStore } from '../log/memory.ts';
import type { Store } from '../log/port.ts';
import type { PackFiles } from './packs/pack-files.ts';
import { promptWords, sampleAgent, sampleAgentId, samplePack, withAgent } from './packs/sample-pack.contract.ts';
import { AgentRegistry } from './registry.ts';

const discovery = {
  protocolVersion: '1.0',
  agents: { supported: false, modelClasses: ['classification'], manifestRuntime: { supported: false } },
  webhooks: { supported: true },
} as unknown as Discovery;

let store: Store;
let registry: AgentRegistry;

const registryOver = (over: Store, document = discovery, trust: { allowUnsigned: boolean } = { allowUnsigned: true }) =>
  new AgentRegistry({
    records: over.records,
    now: () => 1_000,
    policy: { trust: [], ...trust },
    discovery: document,
  });

beforeEach(() => {
  store = memoryStore();
  registry = registryOver(store);
});

/** A pack of this name with one agent of that id. */
const pack = (name: string, agentId = `${name}.one`, fields: object = {}): PackFiles =>
  samplePack({ name, agents: [{ ...sampleAgent, agentId }], ...fields });

const ids = async (tenant: string) => (await registry.agents(tenant)).map(({ agentId }) => agentId);

test('an agent is in the inventory of its tenant alone', async () => {
  const installed = await registry.install('t', samplePack());
  expect(installed).toMatchObject({ name: 'vendor.acme.desk', version: '1.0.0', scope: 'tenant', signedBy: null });
  expect(await ids('t')).toEqual([sampleAgentId]);
  expect([await ids('other'), await registry.packs('other')]).toEqual([[], []]);
  expect(packList.parse({ packs: await registry.packs('t') }).packs).toEqual([installed]);
});

test('the inventory says what the manifest says, and nothing of prompts and schemas', async () => {
  const full = {
    description: 'Sorts.',
    label: 'Desk',
    memoryShape: { scratchpad: true, longTerm: true },
    confidence: { defaultThreshold: 0.6 },
    promptOverrides: { user: 'prompt:secret-words' },
  };
  await registry.install('t', withAgent(full));
  const agents = await registry.agents('t');
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
  await registry.install('t', samplePack({ agents: [plain] }));
  expect(await registry.agents('t')).toEqual([
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

test('what an agent wishes for and the host does not have is listed once, and goes when the host has it', async () => {
  const files = samplePack({
    peerDependencies: { 'mcp.serverMount': 'supported', webhooks: 'supported' },
    peerDependenciesMeta: { 'mcp.serverMount': { optional: true } },
    agents: [{ ...sampleAgent, requiresCapabilities: ['mcp.serverMount', 'host.workspace', 'webhooks'] }],
  });
  const installed = await registry.install('t', files);
  expect(installed.degraded).toEqual(['mcp.serverMount']);
  expect((await registry.agents('t'))[0]?.degraded).toEqual(['host.workspace', 'mcp.serverMount']);
  const able = { ...discovery, workspace: { supported: true }, mcp: { serverMount: { supported: true } } };
  expect((await registryOver(store, able as Discovery).agents('t'))[0]).not.toHaveProperty('degraded');
});

test('the packs of a tenant are there after a restart; those of the host come with it', async () => {
  await registry.install('t', samplePack());
  await registry.installForHost(pack('core.acme.tools'));
  expect(await ids('t')).toEqual(['core.acme.tools.one', sampleAgentId]);
  expect(await ids('other')).toEqual(['core.acme.tools.one']);
  expect((await registry.packs('other')).map(({ scope }) => scope)).toEqual(['host']);
  registry = registryOver(store);
  expect(await ids('t')).toEqual([sampleAgentId]);
});

test('the same pack again changes nothing; another version takes its place; other content is no version', async () => {
  await registry.install('t', samplePack());
  await registry.install('t', samplePack());
  const changed = samplePack({}, { 'prompts/triage.md': 'Other words.' });
  await expect(registry.install('t', changed)).rejects.toMatchObject({ code: 'conflict' });
  await registry.install('t', samplePack({ version: '1.1.0' }));
  expect((await registry.packs('t')).map(({ version }) => version)).toEqual(['1.1.0']);
  expect((await registry.agents('t')).map(({ packVersion }) => packVersion)).toEqual(['1.1.0']);
});

test('what an agent was stays under its hash when its pack is gone, so that a run can keep it', async () => {
  const kept = new Map<string, string>();
  const records = {
    ...store.records,
    putDefinition: async (hash: string, body: string) => {
      kept.set(hash, body);
      await store.records.putDefinition(hash, body);
    },
  };
  registry = registryOver({ ...store, records });
  await registry.install('t', samplePack());
  await registry.remove('t', 'vendor.acme.desk');
  expect(await ids('t')).toEqual([]);
  const [[hash, body] = []] = kept;
  expect(await store.records.definition(hash ?? '')).toBe(body);
  expect(JSON.parse(body ?? '')).toMatchObject({ systemPrompt: promptWords });
});

test('only its tenant removes a pack, and nobody one of the host', async () => {
  await registry.install('t', samplePack());
  await registry.installForHost(pack('core.acme.tools'));
  const missing = { code: 'not_found' };
  await expect(registry.remove('other', 'vendor.acme.desk')).rejects.toMatchObject(missing);
  await expect(registry.remove('t', 'core.acme.tools')).rejects.toMatchObject(missing);
  await expect(registry.remove('t', 'vendor.acme.nothing')).rejects.toMatchObject(missing);
  expect(await ids('t')).toHaveLength(2);
  await registry.remove('t', 'vendor.acme.desk');
  await expect(registry.remove('t', 'vendor.acme.desk')).rejects.toMatchObject(missing);
});

test('one agent comes from one pack', async () => {
  await registry.install('t', pack('vendor.acme.desk', 'vendor.acme.desk.more.one'));
  const twin = pack('vendor.acme.desk.more', 'vendor.acme.desk.more.one');
  const details = { agentId: 'vendor.acme.desk.more.one', packName: 'vendor.acme.desk' };
  await expect(registry.install('t', twin)).rejects.toMatchObject({ code: 'conflict', details });
  await registry.install('other', twin);
});

test("a pack of the host's name is the host's, also when a tenant had one before", async () => {
  await registry.install('t', samplePack());
  await registry.installForHost(samplePack({ version: '2.0.0' }));
  expect((await registry.packs('t')).map(({ version, scope }) => [version, scope])).toEqual([['2.0.0', 'host']]);
  await expect(registry.install('t', samplePack({ version: '3.0.0' }))).rejects.toMatchObject({ code: 'conflict' });
  await expect(registry.installForHost(samplePack({ version: '2.0.1' }))).rejects.toMatchObject({ code: 'conflict' });
});

test('a pack that others depend on stays until they are gone', async () => {
  const dependent = pack('vendor.acme.app', 'vendor.acme.app.one', { dependencies: { 'vendor.acme.desk': '^1.0.0' } });
  await expect(registry.install('t', dependent)).rejects.toMatchObject({ code: 'pack_version_not_found' });
  await registry.install('other', samplePack());
  await expect(registry.install('t', dependent)).rejects.toMatchObject({ code: 'pack_version_not_found' });
  await registry.install('t', samplePack());
  await registry.install('t', dependent);
  await expect(registry.remove('t', 'vendor.acme.desk')).rejects.toMatchObject({ code: 'conflict' });
  await registry.remove('t', 'vendor.acme.app');
  await registry.remove('t', 'vendor.acme.desk');
});

test('of two that come at once and claim one agent, one is refused', async () => {
  const twins = [
    registry.install('t', pack('vendor.acme.desk', 'vendor.acme.desk.more.one')),
    registry.install('t', pack('vendor.acme.desk.more', 'vendor.acme.desk.more.one')),
  ];
  const outcomes = await Promise.allSettled(twins);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(await registry.packs('t')).toHaveLength(1);
});

test('what was refused left nothing behind', async () => {
  registry = registryOver(store, discovery, { allowUnsigned: false });
  await expect(registry.install('t', samplePack())).rejects.toMatchObject({ code: 'pack_signature_invalid' });
  await expect(registry.installForHost(samplePack())).rejects.toMatchObject({ code: 'pack_signature_invalid' });
  expect([await registry.packs('t'), await store.records.packs('t')]).toEqual([[], []]);
});
