import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentInventory, agentInventoryEntry, type Json } from '@cairn/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import { promptWords, sampleAgentId, samplePack } from '../../../test/kit/sample-pack.ts';
import type { PackFiles } from '../../agents/packs/pack-files.ts';
import { newSigningKey, signatureFiles } from '../../agents/packs/signature.ts';
import { integrityOf, makeTarball, openTarball } from '../../agents/packs/tarball.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import type { KeyedRoute } from '../http/routes.ts';
import { keys, keyWith, type Served, served } from '../served.kit.ts';
import { agentRoutes } from './agents.ts';

const path = '/v1/host/cairn/packs';
const bodyOf = (files: PackFiles, more: object = {}) =>
  ({ tarball: makeTarball(files).toString('base64'), ...more }) as Json;
const install = (host: Served, files: PackFiles = samplePack(), key: string = keys.alice) =>
  host.ask('POST', path, { key, body: bodyOf(files) });
const inventory = async (host: Served, key: string = keys.alice) =>
  agentInventory.parse((await host.ask('GET', '/v1/agents', { key })).body);

test('a pack that is installed is in the inventory, in the shape of the protocol and without its prompts', async () => {
  const host = await served();
  expect(await inventory(host)).toEqual({ agents: [], total: 0 });
  expect((await install(host)).status).toBe(201);
  const { agents, total } = await inventory(host);
  expect([total, agents.map(({ agentId }) => agentId)]).toEqual([1, [sampleAgentId]]);
  const one = await host.ask('GET', `/v1/agents/${sampleAgentId}`, { key: keys.alice });
  expect(agentInventoryEntry.parse(one.body)).toEqual(agents[0]);
  const packs = await host.ask('GET', path, { key: keys.alice });
  for (const { text } of [one, packs])
    for (const word of [promptWords, 'subject', 'prompts/']) expect(text).not.toContain(word);
});

test('the inventory is in the order of the ids', async () => {
  const host = await served();
  const ids = ['vendor.acme.desk.b', 'vendor.acme.desk.a', 'vendor.acme.desk.c'];
  const [agent] = JSON.parse(String(samplePack().get('pack.json'))).agents as object[];
  await install(host, samplePack({ agents: ids.map((agentId) => ({ ...agent, agentId })) }));
  expect((await inventory(host)).agents.map(({ agentId }) => agentId)).toEqual(ids.toSorted());
});

test('tenants install, see and remove only their own', async () => {
  const host = await served();
  await install(host);
  await install(host, samplePack({}, { 'prompts/triage.md': 'Of another tenant.' }), keys.stranger);
  expect((await inventory(host, keys.stranger)).total).toBe(1);
  const remove = (key: string) => host.ask('DELETE', `${path}/vendor.acme.desk`, { key });
  expect([(await remove(keys.stranger)).status, (await remove(keys.stranger)).status]).toEqual([204, 404]);
  expect([(await inventory(host)).total, (await inventory(host, keys.stranger)).total]).toEqual([1, 0]);
});

test('each part needs a scope of its own', async () => {
  const host = await served();
  const needs = async (method: 'GET' | 'POST' | 'DELETE', target: string, body?: Json) => {
    const reply = await host.ask(method, target, { key: keyWith(), ...(body === undefined ? {} : { body }) });
    return (reply.body.details as { scopeRequired?: string }).scopeRequired;
  };
  expect(await needs('POST', path, bodyOf(samplePack()))).toBe('packs:publish');
  expect(await needs('GET', path)).toBe('packs:read');
  expect(await needs('DELETE', `${path}/x`)).toBe('packs:yank');
  expect(await needs('GET', '/v1/agents')).toBe('manifest:read');
});

test('the same request with its key again gives the same answer, also after the pack was removed', async () => {
  const host = await served();
  const headers = { 'idempotency-key': 'once' };
  const ask = { key: keys.alice, headers, body: bodyOf(samplePack()) };
  const first = await host.ask('POST', path, ask);
  await host.ask('DELETE', `${path}/vendor.acme.desk`, { key: keys.alice });
  const again = await host.ask('POST', path, ask);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect((await inventory(host)).total).toBe(0);
});

test('where only signed packs are taken, a signature of a configured key decides', async () => {
  const key = newSigningKey();
  const host = await served({ packs: { allowUnsigned: false, trust: [{ keyId: 'acme', publicKey: key.publicKey }] } });
  const unsigned = await install(host);
  expect([unsigned.status, unsigned.body.error]).toEqual([400, 'pack_signature_invalid']);
  const files = samplePack();
  const reply = await install(host, new Map([...files, ...signatureFiles(files, 'acme', key.privateKeyPem)]));
  expect([reply.status, reply.body.signedBy]).toEqual([201, 'acme']);
});

test('what a tarball must be is held against what it is', async () => {
  const host = await served();
  const right = integrityOf(makeTarball(samplePack()));
  const status = async (integrity: string) =>
    (await host.ask('POST', path, { key: keys.alice, body: bodyOf(samplePack(), { integrity }) })).status;
  expect(await status(integrityOf(Buffer.from('x')))).toBe(409);
  expect(await status('md5-x')).toBe(400);
  expect(await status(right)).toBe(201);
});

test('a body above the limit is refused as everywhere, before it is a pack', async () => {
  const host = await served({ maxRequestBodyBytes: 600 });
  const noise = Buffer.from(Array.from({ length: 2_000 }, (_, i) => (i * 7_919) % 251));
  expect((await install(host, samplePack({}, { 'noise.bin': noise }))).body.error).toBe('payload_too_large');
});

test('packs and the versions they had are there after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-agents-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const first = await served({ store: await openSqliteStore({ folder }) });
  await install(first);
  await install(first, samplePack({ version: '1.1.0' }));
  const before = (await first.ask('GET', path, { key: keys.alice })).text;
  await first.stop();
  const second = await served({ store: await openSqliteStore({ folder }) });
  expect((await second.ask('GET', path, { key: keys.alice })).text).toBe(before);
  expect((await inventory(second)).agents[0]?.packVersion).toBe('1.1.0');
  const changed = await install(second, samplePack({}, { 'prompts/triage.md': 'Other words.' }));
  expect([changed.status, changed.body.error]).toEqual([409, 'conflict']);
});

test('however many packs come at once, one is unpacked at a time, and one that fails holds up nobody', async () => {
  const { registry } = await served();
  let open = 0;
  let most = 0;
  const turns: (() => void)[] = [];
  const routes = agentRoutes(registry, async (bytes) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise<void>((resolve) => void turns.push(resolve));
    open -= 1;
    return openTarball(bytes);
  });
  const route = routes.find(({ doc }) => doc.id === 'installPack') as KeyedRoute;
  const asked = ['broken', 'vendor.acme.a', 'vendor.acme.b'].map((name) => {
    const [agent] = JSON.parse(String(samplePack().get('pack.json'))).agents as object[];
    const body = bodyOf(samplePack({ name, agents: [{ ...agent, agentId: `${name}.one` }] }));
    return route.handle({
      caller: { tenant: 't' },
      request: { body },
      reply: { code: () => undefined },
    } as never);
  });
  const outcomes = Promise.allSettled(asked);
  for (const _ of asked) {
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns.pop()?.();
  }
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(most).toBe(1);
});
