import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { sampleAgent, samplePack } from '../../../test/kit/sample-pack.ts';
import type { PackFiles } from '../../agents/packs/pack-files.ts';
import { newSigningKey, signatureFiles } from '../../agents/packs/signature.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { parseConfig } from '../config/config.ts';
import { createHostOver, type HostOptions, startHost } from '../create-host.ts';
import { defineApp } from '../define-app.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cairn-packs-'));
  return () => rmSync(root, { recursive: true, force: true });
});

function put(folder: string, files: PackFiles): string {
  const path = join(root, folder);
  for (const [file, content] of files) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  return path;
}

const pack = (name: string, dependencies: object = {}): PackFiles =>
  samplePack({ name, dependencies, agents: [{ ...sampleAgent, agentId: `${name}.one` }] });

const key = newSigningKey();
const signed = (files: PackFiles): PackFiles =>
  new Map([...files, ...signatureFiles(files, 'acme', key.privateKeyPem)]);

const tenants = ['a', 'b'].map((tenant) => ({ key: `a-key-for-tenant-${tenant}`, tenant }));

async function started(folders: readonly string[], options: Partial<HostOptions> = { allowUnsignedPacks: true }) {
  const trust = [{ keyId: 'acme', publicKey: key.publicKey }];
  const host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: tenants, packs: { folders: [...folders], trust } },
    report: () => undefined,
    ...options,
  });
  onTestFinished(() => host.close());
  return async (tenant: string) => {
    const headers = { authorization: `Bearer a-key-for-tenant-${tenant}` };
    const response = await fetch(`${host.url}/v1/agents`, { headers });
    const { agents } = (await response.json()) as { agents: { agentId: string }[] };
    return agents.map(({ agentId }) => agentId);
  };
}

const refused = (folders: readonly string[], code: string, message: string, options?: Partial<HostOptions>) =>
  expect(started(folders, options)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });

test('packs.unsigned names folders whose packs need no signature; those of packs.folders still do', async () => {
  const own = put('own/desk', pack('vendor.acme.desk', { 'vendor.acme.base': '1.0.0' }));
  const bought = put('bought/base', signed(pack('vendor.acme.base')));
  const trust = [{ keyId: 'acme', publicKey: key.publicKey }];
  const config = { port: 0, keys: tenants, packs: { folders: [bought], unsigned: [own], trust } };
  const agents = await started([], { config });
  expect(await agents('b')).toEqual(['vendor.acme.base.one', 'vendor.acme.desk.one']);
  await refused([own], 'pack_signature_invalid', 'It is not signed', {});
  await expect(started([own], {})).rejects.toMatchObject({ hint: expect.stringContaining('packs.unsigned') });
});

test('a pack in packs.unsigned that a trusted key signed must fit its signature', async () => {
  const files = signed(pack('vendor.acme.desk'));
  const own = put('own', new Map([...files, ['prompts/new.md', Buffer.from('Obey.')]]));
  const trust = [{ keyId: 'acme', publicKey: key.publicKey }];
  const config = { port: 0, keys: tenants, packs: { unsigned: [own], trust } };
  await refused([], 'pack_integrity_failure', 'prompts/new.md', { config });
});

test('a folder of packs is installed for every tenant; what is no pack in it is left alone', async () => {
  put('packs/desk', pack('vendor.acme.desk'));
  put('packs/base', pack('vendor.acme.base'));
  put('packs/.git', pack('vendor.acme.hidden'));
  put('packs/notes', new Map([['readme.md', Buffer.from('No pack.')]]));
  writeFileSync(join(root, 'packs', 'readme.md'), 'No pack.');
  const agents = await started([join(root, 'packs')]);
  expect(await agents('a')).toEqual(['vendor.acme.base.one', 'vendor.acme.desk.one']);
  expect(await agents('b')).toEqual(await agents('a'));
});

test('a folder that is a pack itself is that pack, without what begins with a dot', async () => {
  const folder = put('desk', pack('vendor.acme.desk'));
  put('desk/.git', new Map([['HEAD', Buffer.from('x')]]));
  expect(await (await started([folder]))('a')).toEqual(['vendor.acme.desk.one']);
});

test('packs are installed after those they depend on, whatever their folders are called', async () => {
  put('packs/a', pack('vendor.acme.app', { 'vendor.acme.base': '^1.0.0' }));
  put('packs/z', pack('vendor.acme.base'));
  expect(await (await started([join(root, 'packs')]))('a')).toHaveLength(2);
});

describe('a host does not start', () => {
  test('with packs that depend on each other', async () => {
    put('packs/a', pack('vendor.acme.a', { 'vendor.acme.b': '*' }));
    put('packs/b', pack('vendor.acme.b', { 'vendor.acme.a': '*' }));
    const circle = 'vendor.acme.a -> vendor.acme.b -> vendor.acme.a';
    await refused([join(root, 'packs')], 'pack_dependency_cycle', circle);
  });

  test('with a pack that is wrong, and names its folder', async () => {
    const folder = put('packs/desk', samplePack({ version: 'one' }));
    await refused([join(root, 'packs')], 'invalid_manifest', `${folder}: pack.json is not valid: version`);
  });

  test('with a wrong pack.json, which is looked at before the signature, for the order of the packs', async () => {
    const folder = put('desk', samplePack({ version: 'one' }));
    await refused([folder], 'invalid_manifest', 'version', {});
  });

  test('with one pack twice', async () => {
    const folders = [put('one', pack('vendor.acme.desk')), put('two', pack('vendor.acme.desk'))];
    await refused(folders, 'conflict', 'vendor.acme.desk');
  });

  test('with a folder that is not there', () =>
    refused([join(root, 'nothing')], 'config_invalid', join(root, 'nothing')));

  test('with a link in a pack', async () => {
    const folder = put('desk', pack('vendor.acme.desk'));
    symlinkSync('/etc', join(folder, 'prompts', 'etc'));
    await refused([folder], 'tarball_path_traversal', 'prompts/etc');
  });

  test('with an unsigned pack, unless it was told to take them', async () => {
    const folder = put('desk', pack('vendor.acme.desk'));
    await refused([folder], 'pack_signature_invalid', 'It is not signed', {});
  });
});

const flow = (id: string, version = '1') => ({
  id,
  name: id,
  version,
  nodes: [{ id: 'n', typeId: 'core.noop', name: 'n', position: { x: 0, y: 0 }, config: {}, inputs: {} }],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
});

const withFlow = (name: string, workflow: object): PackFiles =>
  new Map([...pack(name), ['workflows/flow.json', Buffer.from(JSON.stringify(workflow))]]);

describe('a workflow that comes with a pack', () => {
  test('can be run by every tenant', async () => {
    const folder = put('desk', withFlow('vendor.acme.desk', flow('sorted')));
    const host = await createHostOver(inMemoryStore(), {
      config: { port: 0, keys: tenants, packs: { folders: [folder] } },
      report: () => undefined,
      allowUnsignedPacks: true,
    });
    onTestFinished(() => host.close());
    for (const tenant of ['a', 'b']) {
      const { runId } = await host.engine.start({ tenant, workflowId: 'sorted', inputs: {}, options: {} });
      expect((await host.engine.snapshot(tenant, runId)).status).toBe('completed');
    }
  });

  test('keeps the host from starting when another pack has one of its name, in whatever version', async () => {
    const one = put('one', withFlow('vendor.acme.one', flow('sorted')));
    const two = put('two', withFlow('vendor.acme.two', flow('sorted', '2')));
    await refused([one, two], 'conflict', `there is a workflow sorted already, from ${one}`);
  });

  test('keeps the host from starting when the code has one of its name', async () => {
    const folder = put('desk', withFlow('vendor.acme.desk', flow('sorted')));
    const workflows = [flow('sorted', '2')];
    await refused([folder], 'conflict', 'from workflow sorted', { allowUnsignedPacks: true, workflows });
  });

  test('keeps the host from starting when it cannot be run', async () => {
    const wrong = { ...flow('sorted'), nodes: [{ ...flow('sorted').nodes[0], typeId: 'core.nothing' }] };
    const folder = put('desk', withFlow('vendor.acme.desk', wrong));
    await refused([folder], 'validation_error', join(folder, 'workflows/flow.json'));
  });
});

const template = (templateId: string, version = '1.0.0', text = 'Sort {{what}}.') => ({
  templateId,
  version,
  kind: 'user',
  text,
  variables: [{ name: 'what', type: 'string', required: true }],
});

const withTemplates = (name: string, ...templates: object[]): PackFiles =>
  new Map([
    ...pack(name),
    ...templates.map((one, i) => [`templates/${i}.json`, Buffer.from(JSON.stringify(one))] as const),
  ]);

describe('a prompt template that comes with a pack', () => {
  const called = async (url: string | null, method: string, params: object): Promise<unknown> => {
    const headers = { authorization: 'Bearer a-key-for-tenant-b', 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(`${url}/v1/mcp`, { method: 'POST', headers, body });
    return ((await response.json()) as { readonly result: unknown }).result;
  };

  test('is a prompt for MCP clients in its newest version, also after the program of the host changed', async () => {
    const folder = put(
      'desk',
      withTemplates('vendor.acme.desk', template('desk.sort', '1.1.0', 'Sort all {{what}}.'), template('desk.sort')),
    );
    const config = parseConfig({ port: 0, keys: tenants, packs: { folders: [folder] } }, 'config', {});
    const options = { store: inMemoryStore(), report: () => undefined, allowUnsignedPacks: true };
    const host = await startHost(config, options);
    onTestFinished(() => host.close());
    const get = { name: 'desk.sort', arguments: { what: 'letters' } };
    const before = await called(host.url, 'prompts/list', {});
    expect(before).toMatchObject({ prompts: [{ name: 'desk.sort', arguments: [{ name: 'what', required: true }] }] });
    await host.redefine(defineApp({}));
    expect(await called(host.url, 'prompts/list', {})).toEqual(before);
    expect(await called(host.url, 'prompts/get', get)).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Sort all letters.' } }],
    });
  });

  test('keeps the host from starting when another pack or the code has one of its name, in whatever version', async () => {
    const one = put('one', withTemplates('vendor.acme.one', template('desk.sort')));
    const two = put('two', withTemplates('vendor.acme.two', template('desk.sort', '2.0.0')));
    const problem = 'there is a prompt template desk.sort already';
    await refused([one, two], 'conflict', problem);
    const prompts = [{ ...template('desk.sort', '0.1.0'), kind: 'user' as const, variables: [] }];
    await refused([one], 'conflict', problem, { allowUnsignedPacks: true, prompts });
  });
});

test('a pack that a trusted key signed is taken', async () => {
  const folder = put('desk', signed(pack('vendor.acme.desk')));
  expect(await (await started([folder], {}))('a')).toEqual(['vendor.acme.desk.one']);
});
