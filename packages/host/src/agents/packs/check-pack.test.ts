import type { Discovery } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { promptWords, sampleAgent, sampleAgentId, samplePack, withAgent } from '../../../test/kit/sample-pack.ts';
import { checkPack, lintPack, type PackCheckOptions } from './check-pack.ts';
import type { PackFiles } from './pack-files.ts';
import { newSigningKey, signatureFiles } from './signature.ts';

const discovery = {
  protocolVersion: '1.0',
  agents: { supported: false, modelClasses: ['reasoning', 'classification'], manifestRuntime: { supported: false } },
  webhooks: { supported: true, signatureAlgorithms: ['v1'] },
} as Discovery;

const options: PackCheckOptions = { policy: { trust: [], allowUnsigned: true }, discovery, installed: [] };

const refused = (files: PackFiles, code: string, more: object = {}, here: PackCheckOptions = options) =>
  expect(() => checkPack(files, here)).toThrow(
    expect.objectContaining({ code, message: expect.any(String), hint: expect.any(String), ...more }),
  );

test('a pack that is right is given with its agents, and their prompts and schemas in them', () => {
  const { manifest, agents, signedBy, hash } = checkPack(samplePack(), options);
  expect([manifest.name, signedBy, hash.length]).toEqual(['vendor.acme.desk', null, 64]);
  const [agent] = agents;
  expect(agent?.agentId).toBe(sampleAgentId);
  expect(JSON.parse(agent?.body ?? '')).toMatchObject({
    packName: 'vendor.acme.desk',
    packVersion: '1.0.0',
    systemPrompt: promptWords,
    taskSchema: { required: ['subject'] },
    manifest: { persona: 'Triage' },
  });
});

test('what an agent is changes its hash: the prompt, a schema, the version', () => {
  const hashOf = (files: PackFiles) => checkPack(files, options).agents[0]?.hash;
  const hashes = [
    samplePack(),
    samplePack({ version: '1.0.1' }),
    samplePack({}, { 'prompts/triage.md': 'Other.' }),
    samplePack({}, { 'schemas/task.json': '{}' }),
  ].map(hashOf);
  expect(new Set(hashes).size).toBe(4);
  expect(hashOf(samplePack({ keywords: ['x'] }))).toBe(hashes[0]);
});

describe('pack.json is refused', () => {
  const cases: readonly [string, string, PackFiles][] = [
    ['when it is not there', 'tarball_manifest_missing', samplePack({}, { 'pack.json': null })],
    ['when it is no JSON', 'tarball_manifest_not_json', samplePack({}, { 'pack.json': '{' })],
    [
      'when it is no UTF-8',
      'tarball_manifest_not_json',
      samplePack({}, { 'pack.json': Buffer.from([0x22, 0xff, 0x22]) }),
    ],
    [
      'when it has a key twice, of which a reader may go by the first',
      'tarball_manifest_not_json',
      samplePack({}, { 'pack.json': '{"agents":[{"toolAllowlist":[],"toolAllowlist":["openwop:http.fetch"]}]}' }),
    ],
    ['when it is of another kind', 'pack_kind_invalid', samplePack({ kind: 'prompt' })],
    ['when it is a list', 'invalid_manifest', samplePack({}, { 'pack.json': '[]' })],
    ['when it is null', 'invalid_manifest', samplePack({}, { 'pack.json': 'null' })],
    ['without agents', 'invalid_manifest', samplePack({ agents: [] })],
    ['with a field nobody knows', 'invalid_manifest', samplePack({ scripts: { install: 'rm' } })],
    ['with an agent of the host', 'invalid_manifest', withAgent({ agentId: 'host:desk' })],
    ['with a model class nobody knows', 'invalid_manifest', withAgent({ modelClass: 'poet' })],
    ['with two prompts for an agent', 'invalid_manifest', withAgent({ systemPrompt: 'x' })],
    ['with an agent twice', 'invalid_manifest', samplePack({ agents: [sampleAgent, sampleAgent] })],
    ['with a range that is none', 'invalid_manifest', samplePack({ engines: { openwop: 'soon' } })],
    [
      'with a dependency range that is none',
      'invalid_manifest',
      samplePack({ dependencies: { 'vendor.acme.base': '!' } }),
    ],
  ];
  test.each(cases)('%s', (_, code, files) => {
    const here = { ...options, installed: [{ name: 'vendor.acme.base', version: '1.0.0' }] };
    refused(files, code, {}, here);
  });
});

describe('what a pack needs', () => {
  test.each([
    ['another protocol', samplePack({ engines: { openwop: '>=2.0.0' } })],
    ['a runtime', samplePack({ runtime: { language: 'javascript', entry: 'index.js' } })],
    ['code for nodes', samplePack({ nodes: [{ typeId: 'acme.x', version: '1.0.0', category: 'data', role: 'pure' }] })],
  ])('is refused when it is %s', (_, files) => refused(files, 'unsupported_runtime'));

  test('is refused when it is access that only code could use, and listed', () => {
    const files = samplePack({ runtime: { language: 'remote', entry: '', requires: ['net.outbound', 'fs.read'] } });
    refused(files, 'pack_runtime_requirement_unmet', { details: { unmet: ['net.outbound', 'fs.read'] } });
  });

  const base = { name: 'vendor.acme.base', version: '1.4.0' };
  const needing = (range: string) => samplePack({ dependencies: { 'vendor.acme.base': range } });
  test('is another pack in a range of versions', () => {
    expect(checkPack(needing('^1.2.0'), { ...options, installed: [base] }).manifest.name).toBe('vendor.acme.desk');
    refused(needing('^1.2.0'), 'pack_version_not_found', { details: { packName: base.name, range: '^1.2.0' } });
    const details = { packName: base.name, conflictingRanges: ['^2.0.0'] };
    refused(needing('^2.0.0'), 'pack_dependency_conflict', { details }, { ...options, installed: [base] });
  });

  test('is never itself', () => {
    const details = { cycle: ['vendor.acme.desk', 'vendor.acme.desk'] };
    refused(samplePack({ dependencies: { 'vendor.acme.desk': '*' } }), 'pack_dependency_cycle', { details });
  });

  test('is never one that needs it, over however many others', () => {
    const needs = (name: string, ...others: readonly string[]) => ({
      name: `vendor.acme.${name}`,
      version: '1.4.0',
      dependencies: Object.fromEntries(others.map((other) => [`vendor.acme.${other}`, '*'])),
    });
    const cycle = ['vendor.acme.desk', 'vendor.acme.base', 'vendor.acme.deep', 'vendor.acme.desk'];
    const installed = [needs('base', 'side', 'deep'), needs('side', 'base'), needs('deep', 'desk')];
    refused(needing('*'), 'pack_dependency_cycle', { details: { cycle } }, { ...options, installed });
    // What others need of each other is no way back.
    const apart = [needs('base', 'side', 'deep'), needs('side', 'base'), needs('deep')];
    expect(checkPack(needing('*'), { ...options, installed: apart }).manifest.name).toBe('vendor.acme.desk');
  });

  test('and what others need of it must go together', () => {
    const dependent = { name: 'vendor.acme.app', version: '1.0.0', dependencies: { 'vendor.acme.desk': '<1.0.0' } };
    const details = { packName: 'vendor.acme.desk', conflictingRanges: ['<1.0.0'] };
    refused(samplePack(), 'pack_dependency_conflict', { details }, { ...options, installed: [dependent] });
  });

  const peers = (peerDependencies: object, peerDependenciesMeta: object = {}) =>
    samplePack({ peerDependencies, peerDependenciesMeta });
  test('is a capability of the host: refused without it, unless it is optional', () => {
    const runtime = { 'agents.manifestRuntime': 'supported', 'mcp.serverMount': 'supported', webhooks: 'supported' };
    const missing = ['agents.manifestRuntime', 'mcp.serverMount'];
    refused(peers(runtime), 'pack_peer_dependency_missing', { details: { missing, requiredCapability: missing[0] } });
    const optional = { 'agents.manifestRuntime': { optional: true }, 'mcp.serverMount': { optional: true } };
    expect(checkPack(peers(runtime, optional), options).agents).toHaveLength(1);
    const half = { ...optional, 'mcp.serverMount': { optional: false } };
    refused(peers(runtime, half), 'pack_peer_dependency_missing');
    refused(peers({ constructor: 'supported' }), 'pack_peer_dependency_missing');
  });

  test('is refused when no host could have it, also as an option', () => {
    const details = { requiredCapability: 'host.crystalBall' };
    const asked = { 'host.crystalBall': 'supported' };
    refused(peers(asked), 'pack_peer_dependency_undefined', { details });
    refused(peers(asked, { 'host.crystalBall': { optional: true } }), 'pack_peer_dependency_undefined');
    refused(peers({ 'host.sql': 'supported' }), 'pack_peer_dependency_missing');
  });

  test('is a model of a class that the host offers, by the name that AgentRefs have for it', () => {
    const details = { agentId: sampleAgentId, modelClass: 'coding' };
    refused(withAgent({ modelClass: 'coding' }), 'unsupported_model_class', { details });
    expect(checkPack(withAgent({ modelClass: 'reasoning' }), options).agents).toHaveLength(1);
  });
});

describe('an agent is refused', () => {
  test.each(['vendor.acme.other.triage', 'vendor.acme.deskx.triage', 'vendor.acme.desk'])(
    'with the id %s',
    (agentId) => {
      refused(withAgent({ agentId }), 'invalid_pack_scope', { details: { agentId, packName: 'vendor.acme.desk' } });
    },
  );

  const { systemPromptRef: _, ...promptless } = sampleAgent;
  const prompt = (systemPromptRef: string) => withAgent({ systemPromptRef });
  const task = (text: string) => samplePack({}, { 'schemas/task.json': text });
  const cases: readonly [string, string, PackFiles][] = [
    ['whose prompt is not there', 'tarball_entry_missing', samplePack({}, { 'prompts/triage.md': null })],
    ['whose prompt is out of the pack', 'tarball_path_traversal', prompt('../../etc/passwd')],
    ['whose prompt is an absolute path', 'tarball_path_traversal', prompt('/etc/passwd')],
    [
      'whose prompt is no UTF-8',
      'invalid_manifest',
      samplePack({}, { 'prompts/triage.md': Buffer.from([0xff, 0xfe]) }),
    ],
    ['whose prompt is empty', 'invalid_manifest', samplePack({}, { 'prompts/triage.md': '  \n' })],
    ['whose schema is not there', 'tarball_entry_missing', samplePack({}, { 'schemas/task.json': null })],
    [
      'whose schema is out of the pack',
      'tarball_path_traversal',
      withAgent({ handoff: { returnSchemaRef: '../a.json' } }),
    ],
    ['whose schema is no JSON', 'invalid_manifest', task('{')],
    ['whose schema is a list', 'invalid_manifest', task('[]')],
    ['whose schema does not compile', 'invalid_manifest', task('{"type":"strange"}')],
    ['whose schema refers to the outside', 'invalid_manifest', task('{"$ref":"http://127.0.0.1/x.json"}')],
    ['whose evaluations are not there', 'tarball_entry_missing', withAgent({ evalSuiteRef: 'evals/a.json' })],
  ];
  test.each(cases)('%s', (_, code, files) => refused(files, code));

  test('but not for a prompt that stands in the manifest', () => {
    const files = samplePack({ agents: [{ ...promptless, systemPrompt: 'Inline.' }] });
    expect(checkPack(files, options).agents[0]?.body).toContain('"systemPrompt":"Inline."');
  });
});

test('checks come in their order: of everything that is wrong, the first is told', () => {
  const key = newSigningKey();
  const strict = { ...options, policy: { trust: [{ keyId: 'a', publicKey: key.publicKey }], allowUnsigned: false } };
  const wrong: Record<string, unknown> = {
    version: 'one',
    runtime: { language: 'go', entry: '', requires: ['clock'] },
    dependencies: { 'vendor.acme.base': '*' },
    peerDependencies: { sql: 'supported' },
    agents: [{ ...sampleAgent, agentId: 'vendor.other.desk.x', modelClass: 'coding', systemPromptRef: 'no.md' }],
  };
  const order: readonly [string, Record<string, unknown>][] = [
    ['invalid_manifest', { version: '1.0.0' }],
    ['unsupported_runtime', { runtime: { language: 'remote', entry: '', requires: ['clock'] } }],
    ['pack_runtime_requirement_unmet', { runtime: { language: 'remote', entry: '' } }],
    ['pack_version_not_found', { dependencies: {} }],
    ['pack_peer_dependency_missing', { peerDependencies: {} }],
    [
      'unsupported_model_class',
      { agents: [{ ...sampleAgent, agentId: 'vendor.other.desk.x', systemPromptRef: 'no.md' }] },
    ],
    [
      'invalid_pack_scope',
      { agents: [{ ...sampleAgent, systemPromptRef: 'no.md', handoff: { taskSchemaRef: 'n.json' } }] },
    ],
    ['tarball_entry_missing', { agents: [sampleAgent] }],
  ];
  const signed = (files: PackFiles) => new Map([...files, ...signatureFiles(files, 'a', key.privateKeyPem)]);
  refused(samplePack(wrong), 'pack_signature_invalid', {}, strict);
  for (const [code, cure] of order) {
    refused(signed(samplePack(wrong)), code, {}, strict);
    Object.assign(wrong, cure);
  }
  expect(checkPack(signed(samplePack(wrong)), strict).signedBy).toBe('a');
});

test('lint says what is wrong with a pack itself, and nothing that only a host can tell', () => {
  const files = samplePack({ peerDependencies: { sql: 'supported' }, dependencies: { 'vendor.acme.base': '*' } });
  expect(lintPack(files).manifest.name).toBe('vendor.acme.desk');
  expect(() => lintPack(withAgent({ agentId: 'vendor.acme.other.x' }))).toThrow(
    expect.objectContaining({ code: 'invalid_pack_scope' }),
  );
});

describe('a rehearsal', () => {
  const script = { turns: [[{ say: 'On {{input.subject}}.' }]] };
  const withFile = (content: string) => samplePack({}, { 'rehearsals/triage.json': content });

  test('is part of the agent after whose last word it is called', () => {
    const bodyOf = (files: PackFiles) => JSON.parse(checkPack(files, options).agents[0]?.body ?? '') as object;
    expect(bodyOf(withFile(JSON.stringify(script)))).toMatchObject({ rehearsal: script });
    const ofNobody = samplePack({}, { 'rehearsals/writer.json': JSON.stringify(script) });
    expect(bodyOf(ofNobody)).not.toHaveProperty('rehearsal');
  });

  test.each([
    ['no JSON', '{', 'it is not JSON'],
    ['a list', '[]', 'it must be a JSON object'],
    ['half a character', '{"turns":[[{"say":"\\ud800"}]]}', 'half of a surrogate pair'],
    ['ambiguous', '{"turns":[],"turns":[[{"say":"la"}]]}', 'twice in one object'],
    ['a nest', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'levels deep'],
    ['no script', '{"turns":[[{"sing":"la"}]]}', 'it is not a script: turns[0][0]'],
    ['a script that fills in what nobody knows', '{"turns":[[{"say":"{{secret}}"}]]}', '{{secret}}'],
  ])('that is %s is refused, by its name', (_, content, problem) => {
    refused(withFile(content), 'invalid_manifest', { message: expect.stringContaining(problem) });
    expect(() => lintPack(withFile(content))).toThrow('rehearsals/triage.json');
  });
});

describe('workflows of a pack', () => {
  const definition = {
    id: 'desk',
    name: 'Desk',
    version: '1',
    nodes: [{ id: 'n', typeId: 'core.noop', name: 'n', position: { x: 0, y: 0 }, config: {}, inputs: {} }],
    edges: [],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  };
  const text = JSON.stringify(definition);

  test('are read from their folder, and from no other', () => {
    const files = {
      'workflows/desk.json': text,
      'workflows/notes.md': 'x',
      'workflows/old/a.json': '{',
      'desk.json': '{',
    };
    expect(checkPack(samplePack({}, files), options).workflows).toEqual([{ path: 'workflows/desk.json', definition }]);
  });

  test.each([
    ['that is no JSON', { 'workflows/desk.json': '{' }, 'workflows/desk.json'],
    ['with half a character', { 'workflows/desk.json': text.replace('Desk', '\\ud800') }, 'half of a surrogate pair'],
    ['that is no definition', { 'workflows/desk.json': '{"id":"desk"}' }, 'workflows/desk.json'],
    ['that is no UTF-8', { 'workflows/desk.json': Buffer.from([0xff]) }, 'it is not UTF-8'],
    ['that is there twice', { 'workflows/a.json': text, 'workflows/b.json': text }, 'as workflows/a.json is'],
  ])('one %s is refused, by its name', (_, files, problem) => {
    refused(samplePack({}, files), 'invalid_manifest', { message: expect.stringContaining(problem) });
  });
});

describe('prompt templates of a pack', () => {
  const template = { templateId: 'acme.sort', version: '1.0.0', kind: 'user', text: 'Sort {{what}}.' } as const;
  const text = JSON.stringify(template);

  test('are read from their folder, and from no other', () => {
    const files = {
      'templates/sort.json': text,
      'templates/notes.md': 'x',
      'templates/old/a.json': '{',
      'sort.json': '{',
    };
    expect(checkPack(samplePack({}, files), options).templates).toEqual([{ path: 'templates/sort.json', template }]);
  });

  test.each([
    ['that is no JSON', { 'templates/sort.json': '{' }, 'templates/sort.json'],
    ['of no known kind', { 'templates/sort.json': text.replace('user', 'poem') }, 'is wrong at kind'],
    ['that is no UTF-8', { 'templates/sort.json': Buffer.from([0xff]) }, 'it is not UTF-8'],
    ['that is there twice', { 'templates/a.json': text, 'templates/b.json': text }, 'as templates/a.json is'],
  ])('one %s is refused, by its name', (_, files, problem) => {
    refused(samplePack({}, files), 'invalid_manifest', { message: expect.stringContaining(problem) });
  });
});
