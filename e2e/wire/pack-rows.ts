/** Sections 5.4 and 5.5: every refusal of a pack, and the inventory. */
import { gzipSync } from 'node:zlib';
import type { PackFiles } from '../../packages/host/src/agents/packs/pack-files.ts';
import { packLimits } from '../../packages/host/src/agents/packs/pack-files.ts';
import { newSigningKey, signatureFiles } from '../../packages/host/src/agents/packs/signature.ts';
import { integrityOf, makeTarball } from '../../packages/host/src/agents/packs/tarball.ts';
import { sampleAgent, samplePack } from '../../packages/host/test/kit/sample-pack.ts';
import type { Answer, Ask, Stage, WireRow } from './wire-row.ts';

const key = newSigningKey();

/** Keys that the host of the table trusts. */
export const trust = [{ keyId: 'wire', publicKey: key.publicKey }];

const signed = (files: PackFiles): PackFiles =>
  new Map([...files, ...signatureFiles(files, 'wire', key.privateKeyPem)]);

const to = 'POST /v1/host/cairn/packs';
const sent = (files: PackFiles, more: object = {}): Ask => ({ to, body: { ...archived(makeTarball(files)), ...more } });
const archived = (bytes: Buffer) => ({ tarball: bytes.toString('base64') });

/** A pack with a unique name, so that rows do not interfere. */
const pack = (name: string, fields: object = {}, files: Readonly<Record<string, string | Buffer | null>> = {}) =>
  samplePack({ name: `vendor.wire.${name}`, agents: [agentOf(name)], ...fields }, files);
const agentOf = (name: string, fields: object = {}) => ({
  ...sampleAgent,
  agentId: `vendor.wire.${name}.triage`,
  ...fields,
});

const installed = (files: PackFiles) => async (stage: Stage) => {
  const { name } = await stage.told(sent(signed(files)));
  return { pack: String(name) };
};

interface Refusal {
  readonly says: string;
  readonly ask: Ask;
  readonly answer: Answer;
  readonly given?: NonNullable<WireRow['given']>;
}

const refused = (says: string, error: string, ask: Ask, details?: object): Refusal => ({
  says,
  ask,
  answer: { status: 400, error, ...(details === undefined ? {} : { details }) },
});

const base = pack('base', { version: '1.4.0' });
const needing = (name: string, range: string) => signed(pack(name, { dependencies: { 'vendor.wire.base': range } }));
const peer = (name: string, peerDependencies: object) => sent(signed(pack(name, { peerDependencies })));

const archives: readonly Refusal[] = [
  refused('a body that is no pack is a bad request', 'validation_error', { to, body: { tarball: 'no!' } }),
  {
    says: 'a tarball that is not the one that was asked for is 409',
    ask: sent(signed(pack('a1')), { integrity: integrityOf(Buffer.from('another')) }),
    answer: { status: 409, error: 'pack_integrity_mismatch' },
  },
  refused('what is no gzip', 'tarball_gunzip_failed', { to, body: archived(Buffer.from('hello')) }),
  refused('a bomb', 'tarball_too_large', { to, body: archived(gzipSync(Buffer.alloc(packLimits.unpackedBytes + 1))) }),
  refused('what is no tar', 'tarball_tar_parse_failed', { to, body: archived(gzipSync('hello')) }),
  refused('a path out of the pack', 'tarball_path_traversal', sent(new Map([['../x', Buffer.from('x')]]))),
  refused(
    'a file above 5 MB',
    'tarball_entry_too_large',
    sent(new Map([['x', Buffer.alloc(packLimits.entryBytes + 1)]])),
  ),
  refused(
    'a pack.json above 256 KB',
    'tarball_manifest_too_large',
    sent(new Map([['pack.json', Buffer.alloc(packLimits.manifestBytes + 1)]])),
  ),
  refused('no signature', 'pack_signature_invalid', sent(pack('a2')), { reason: 'unsigned' }),
  refused(
    'a file that was changed after it was signed',
    'pack_integrity_failure',
    sent(new Map([...signed(pack('a3')), ['prompts/triage.md', Buffer.from('Obey.')]])),
    { path: 'prompts/triage.md' },
  ),
];

const manifests: readonly Refusal[] = [
  refused('no pack.json', 'tarball_manifest_missing', sent(signed(pack('m1', {}, { 'pack.json': null })))),
  refused(
    'a pack.json that is no JSON',
    'tarball_manifest_not_json',
    sent(signed(pack('m2', {}, { 'pack.json': '{' }))),
  ),
  refused('another kind of pack', 'pack_kind_invalid', sent(signed(pack('m3', { kind: 'prompt' })))),
  refused('a manifest off its schema', 'invalid_manifest', sent(signed(pack('m4', { version: 'one' })))),
  refused(
    'a host: id in a manifest',
    'invalid_manifest',
    sent(signed(pack('m5', { agents: [agentOf('m5', { agentId: 'host:desk' })] }))),
  ),
  refused(
    'a runtime',
    'unsupported_runtime',
    sent(signed(pack('m6', { runtime: { language: 'javascript', entry: 'index.js' } }))),
  ),
  refused(
    'a grant for code',
    'pack_runtime_requirement_unmet',
    sent(signed(pack('m7', { runtime: { language: 'remote', entry: '', requires: ['net.outbound'] } }))),
    { unmet: ['net.outbound'] },
  ),
  refused(
    'a pack that needs itself',
    'pack_dependency_cycle',
    sent(signed(pack('m8', { dependencies: { 'vendor.wire.m8': '*' } }))),
  ),
  refused('a required capability that is not there', 'pack_peer_dependency_missing', peer('m9', { sql: 'supported' }), {
    missing: ['sql'],
    requiredCapability: 'sql',
  }),
  refused(
    'a surface without a contract',
    'pack_peer_dependency_undefined',
    peer('m10', { 'host.crystalBall': 'supported' }),
  ),
  refused(
    'an agent outside of its pack',
    'invalid_pack_scope',
    sent(signed(pack('m11', { agents: [agentOf('other')] }))),
  ),
  refused(
    'a prompt that is not in the pack',
    'tarball_entry_missing',
    sent(signed(pack('m12', {}, { 'prompts/triage.md': null }))),
  ),
  refused(
    'a schema that does not compile',
    'invalid_manifest',
    sent(signed(pack('m13', {}, { 'schemas/task.json': '{"type":"strange"}' }))),
  ),
];

const together: readonly Refusal[] = [
  {
    says: 'a dependency that is not installed is 404',
    ask: sent(signed(pack('t1', { dependencies: { 'vendor.wire.nothing': '*' } }))),
    answer: { status: 404, error: 'pack_version_not_found', details: { packName: 'vendor.wire.nothing' } },
  },
  {
    says: 'a dependency in another version is 409',
    given: installed(base),
    ask: sent(needing('t2', '^2.0.0')),
    answer: {
      status: 409,
      error: 'pack_dependency_conflict',
      details: { packName: 'vendor.wire.base', conflictingRanges: ['^2.0.0'] },
    },
  },
  {
    says: 'a version that is there with other content is 409',
    given: installed(pack('t3')),
    ask: sent(signed(pack('t3', {}, { 'prompts/triage.md': 'Other words.' }))),
    answer: { status: 409, error: 'conflict' },
  },
];

const installs: readonly WireRow[] = [
  ...[...archives, ...manifests, ...together].map((row) => ({ at: '5.4', ...row })),
  {
    at: '5.4',
    says: 'a signed pack is installed for the tenant',
    ask: sent(signed(pack('i1'))),
    answer: { status: 201, body: { name: 'vendor.wire.i1', scope: 'tenant', signedBy: 'wire', degraded: [] } },
  },
  {
    at: '5.4',
    says: 'an optional capability that is not there installs and is listed',
    ask: sent(
      signed(pack('i2', { peerDependencies: { sql: 'supported' }, peerDependenciesMeta: { sql: { optional: true } } })),
    ),
    answer: { status: 201, body: { degraded: ['sql'] } },
  },
  { at: '5.4, 11.3', says: 'packs are listed', ask: { to: 'GET /v1/host/cairn/packs' }, answer: { status: 200 } },
  {
    at: '5.4, 11.3',
    says: 'a pack is removed',
    given: installed(pack('r1')),
    ask: { to: 'DELETE /v1/host/cairn/packs/{pack}' },
    answer: { status: 204 },
  },
  {
    at: '5.4, 11.3',
    says: 'a pack of another tenant is not found',
    given: installed(pack('r2')),
    ask: { to: 'DELETE /v1/host/cairn/packs/{pack}', as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '5.4, 11.3',
    says: 'a pack that another one needs is not removed',
    given: async (stage) => {
      const names = await installed(base)(stage);
      await stage.told(sent(needing('r3', '^1.0.0')));
      return names;
    },
    ask: { to: 'DELETE /v1/host/cairn/packs/{pack}' },
    answer: { status: 409, error: 'conflict' },
  },
  {
    at: '5.4, 11.3',
    says: 'removing a pack takes no body',
    ask: { to: 'DELETE /v1/host/cairn/packs/vendor.wire.x', body: {} },
    answer: { status: 400, error: 'validation_error' },
  },
];

const inventory: readonly WireRow[] = [
  {
    at: '5.5',
    says: 'the inventory needs a key',
    ask: { to: 'GET /v1/agents', as: 'nobody' },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '5.5, 2.5 row 21',
    says: 'another tenant has an inventory of its own, with the agents of the host',
    given: installed(pack('v1')),
    ask: { to: 'GET /v1/agents', as: 'zoe' },
    answer: { status: 200, body: { agents: [{ agentId: 'host:wire' }], total: 1 } },
  },
  {
    at: '5.5, 2.5 row 21',
    says: 'an agent is read by its id',
    given: installed(pack('v2')),
    ask: { to: 'GET /v1/agents/vendor.wire.v2.triage' },
    answer: {
      status: 200,
      body: {
        agentId: 'vendor.wire.v2.triage',
        persona: 'Triage',
        label: 'Triage',
        modelClass: 'classification',
        packName: 'vendor.wire.v2',
        packVersion: '1.0.0',
        toolAllowlist: ['openwop:time'],
        hasHandoffSchemas: true,
      },
    },
  },
  {
    at: '5.5',
    says: 'an agent of another tenant is not found',
    given: installed(pack('v3')),
    ask: { to: 'GET /v1/agents/vendor.wire.v3.triage', as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '5.5',
    says: 'a roster is no agent',
    ask: { to: 'GET /v1/agents/roster' },
    answer: { status: 404, error: 'not_found' },
  },
];

export const packRows: readonly WireRow[] = [...installs, ...inventory];
