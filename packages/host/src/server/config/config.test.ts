import { isCairnError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { keyHash } from '../access/auth.ts';
import { parseConfig } from './config.ts';

const key = 'a-key-of-16-characters';

/** Message and hint of the refusal. */
function refusal(config: unknown, env: Record<string, string> = {}): string {
  try {
    parseConfig(config, 'cairn.json', env);
  } catch (error) {
    if (isCairnError(error, 'config_invalid')) return `${error.message} ${error.hint ?? ''}`;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

test('fills in everything that was left out', () => {
  expect(parseConfig({}, 'test')).toEqual({
    port: 4700,
    leaseMs: 30_000,
    retention: [],
    signIns: {},
    bind: '127.0.0.1',
    data: '.cairn',
    keys: [],
    workflows: [],
    secrets: new Map(),
    maskKeyShapes: false,
    knownSecrets: [],
    weakSecrets: [],
    trustedProxies: [],
    credentials: {},
    packs: { folders: [], unsigned: [], trust: [] },
    agents: {
      lowConfidence: 'ask',
      coordinatorTimeoutMs: 10_000,
      identities: {},
      internalEvents: false,
      reasoning: { verbosity: 'summary', tokenLimit: 512 },
    },
    models: { providers: {}, classes: {} },
    tools: { tenants: {}, clientTimeoutMs: 3_600_000, http: { allow: [] } },
    mcp: { servers: [] },
    a2a: { peers: [], versions: ['1.0'] },
    peers: [],
    visibility: { thoughts: 'client' },
    egress: { allow: [] },
    cors: { origins: [] },
    limits: {
      maxNodeExecutions: 1000,
      maxRunDepth: 8,
      maxRunsPerTree: 1000,
      clarificationRounds: 10,
      expressionCost: 500_000,
      runStateBytes: 16_777_216,
      runLogBytes: 268_435_456,
      tenantLogBytes: 53_687_091_200,
      maxRequestBodyBytes: 1_048_576,
      maxRequestsInFlightPerKey: 1000,
      maxOpenStreamsPerKey: 1000,
      maxOpenStreamsPerTenant: 2000,
      maxQueuedMessages: 20,
      maxActiveRunsPerTenant: 10_000,
      maxStartsPerSecondPerTenant: 2000,
      maxOpenCallsPerTenant: 1000,
      maxUnreadBytesPerTenant: 33_554_432,
      maxUnreadBytes: 268_435_456,
      maxFailedAuthPerMinute: 60,
      maxConnections: 10_000,
      maxConnectionsPerAddress: 2000,
    },
    conformance: false,
    unused: [],
  });
});

test.each([
  [{ prot: 1 }, 'there is no key "prot". Did you mean "port"?'],
  [
    { limits: { maxNodeExecution: 5 } },
    'there is no key "maxNodeExecution" in limits. Did you mean "maxNodeExecutions"?',
  ],
  [{ keys: [{ key, tenent: 'a' }] }, 'there is no key "tenent" in keys[0]. Did you mean "tenant"?'],
  [{ keys: [{ key, tenant: 'a', scope: [] }] }, 'there is no key "scope" in keys[0]. Did you mean "scopes"?'],
  [{ zzzzzzzz: 1 }, 'Known keys: port, bind,'],
  [{ port: 70_000 }, 'cairn.json: port:'],
  [{ bind: 'example.org' }, 'must be an IP address'],
  [{ publicUrl: 'ftp://x' }, 'cairn.json: publicUrl:'],
  [{ keys: [{ tenant: 'a' }] }, 'exactly one of key, keyEnv and sha256'],
  [{ keys: [{ key, sha256: 'a'.repeat(64), tenant: 'a' }] }, 'exactly one of key, keyEnv and sha256'],
  [{ keys: [{ key: 'short', tenant: 'a' }] }, 'keys[0].key'],
  [{ keys: [{ key, tenant: 'a\nb' }] }, 'keys[0].tenant'],
  [
    {
      keys: [
        { key, tenant: 'a' },
        { sha256: keyHash(key), tenant: 'b' },
      ],
    },
    'keys[1]: this is the same key as keys[0]',
  ],
  [{ keys: [{ key, tenant: 'a', principal: 'half \ud800' }] }, 'printable text'],
  [{ keys: [{ sha256: 'ABC', tenant: 'a' }] }, '64 lowercase hex digits'],
  [{ keys: [{ key, tenant: 'a', scopes: ['runs:everything'] }] }, 'keys[0].scopes[0]'],
  [{ keys: [{ keyEnv: 'NOT_SET', tenant: 'a' }] }, 'keys[0]: the environment variable NOT_SET is not set'],
  [{ conformance: true, bind: '0.0.0.0' }, 'conformance is on and bind is 0.0.0.0'],
  [{ retention: [{}] }, 'retention[0]: must have afterDays, keepLast or both'],
  [{ retention: [{ keepLast: 1 }, { afterDays: -1 }] }, 'retention[1].afterDays'],
  [{ retention: [{ afterDays: 36_501 }] }, 'retention[0].afterDays'],
  [{ retention: [{ afterDays: '30' }] }, 'retention[0].afterDays: "30" must be a number, not a text'],
  [{ retention: [{ keepLast: 1.5 }] }, 'retention[0].keepLast: 1.5 must be a whole number'],
  [{ retention: [{ keepLast: 1, workflows: 'x' }] }, 'Did you mean "workflow"?'],
  [{ retention: { keepLast: 1 } }, 'cairn.json: retention'],
  [{ retention: Array.from({ length: 1_001 }, () => ({ keepLast: 1 })) }, 'cairn.json: retention'],
  ['text', 'the configuration: must be an object, not a text'],
  [{ port: '4700' }, 'port: "4700" must be a number, not a text'],
  [{ port: 1.5 }, 'port: 1.5 must be a whole number'],
  [{ hostId: null }, 'hostId: must be a text, not null'],
  [{ publicUrl: 'https://me:pw@example.org' }, 'publicUrl: must not hold a user name or password'],
  [
    { cors: { origins: ['https://app.example.org/'] } },
    'cors.origins[0]: "https://app.example.org/" must be an origin',
  ],
  [{ cors: { origins: ['*'] } }, 'cors.origins[0]: "*" must be an origin'],
  [{ egress: { allow: ['10.0.0.5'] } }, 'egress.allow[0]: "10.0.0.5" must be an origin'],
  [{ packs: 'folder' }, 'packs: "folder" must be a list of folders, or'],
  [{ packs: [5] }, 'packs[0]: 5 must be a text'],
  [{ packs: { unsigned: true } }, 'packs.unsigned: true must be a list'],
  [{ packs: { folder: [] } }, 'there is no key "folder" in packs. Did you mean "folders"?'],
  [{ packs: { trust: [{ keyId: 'a', publicKey: 'b' }] } }, 'packs.trust[0].publicKey: "b" must be the 32 bytes'],
  [{ models: { providers: { a: { kind: 'opnai' } } } }, 'models.providers.a.kind: "opnai" must be one of openai,'],
  [{ models: { providers: { a: { kind: 'opnai' } } } }, 'Did you mean "openai"?'],
  [{ models: { providers: { a: { kind: 'openai-compatible' } } } }, 'models.providers.a.baseUrl: is missing'],
  [{ models: { classes: { reasoning: 'a/b' } } }, 'models.classes.reasoning: names the provider "a", which'],
  [{ models: { classes: { reasonin: 'a/b' } } }, 'Did you mean "reasoning"?'],
  [{ mcp: { servers: [{ id: 'a', url: 'ftp://a' }] } }, 'mcp.servers[0].url: "ftp://a" must be an http or https URL'],
  [
    {
      mcp: {
        servers: [
          { id: 'a', url: 'https://a' },
          { id: 'a', url: 'https://b' },
        ],
      },
    },
    'mcp.servers[1].id: is there twice',
  ],
  [{ mcp: { servers: [{ id: 'a' }] } }, 'mcp.servers[0].url: must have either url or command, and not both'],
  [
    { mcp: { servers: [{ id: 'a', url: 'https://a', command: 'b' }] } },
    'mcp.servers[0].command: must have either url or command, and not both',
  ],
  [{ mcp: { servers: [{ id: 'a', command: './b' }] } }, 'must be the name of a program, or an absolute path'],
  [{ mcp: { servers: [{ id: 'a', command: 'b', cwd: 'c' }] } }, 'mcp.servers[0].cwd: "c" must be an absolute path'],
  [
    { mcp: { servers: [{ id: 'a', command: 'b', headers: { c: 'd' } }] } },
    'mcp.servers[0].headers: is only for a server with a url',
  ],
  [
    { mcp: { servers: [{ id: 'a', url: 'https://a', args: ['b'] }] } },
    'mcp.servers[0].args: is only for a server with a command',
  ],
  [
    { mcp: { servers: [{ id: 'a', command: 'b', env: { 'c d': 'e' } }] } },
    'must be the name of an environment variable',
  ],
  [
    {
      packs: {
        folders: [],
        trust: [
          { keyId: 'a', publicKey: 'A'.repeat(43) },
          { keyId: 'a', publicKey: 'B'.repeat(43) },
        ],
      },
    },
    'packs.trust[1].keyId: is there twice',
  ],
  [{ agents: { identities: { 'did:web:a': { did: 'did:web:a' } } } }, 'is the id of another system'],
  [{ agents: { identities: { 'host:a': { did: 'did:ion:a' } } } }, 'must begin with did:web: or did:key:'],
  [{ agents: { identities: { 'host:a': {} } } }, 'agents.identities.host:a'],
  [{ a2a: { peers: [{ name: 'a' }] } }, 'a2a.peers[0].url: is missing'],
  [{ peers: { a: 1 } }, 'peers: must be a list, not an object'],
  [{ visibility: { thoughts: 'clients' } }, 'visibility.thoughts: "clients" must be one of client, operator'],
  [{ jwt: { issuer: 'a', audience: 'b' } }, 'jwt.jwksUrl: is missing'],
  [
    { jwt: { issuer: 'a', audience: 'b', jwksUrl: 'https://a', algorithms: ['HS256'] } },
    'jwt.algorithms[0]: "HS256" must be one of RS256',
  ],
  [{ jwt: { issuer: 'a', audience: 'b', jwksUrl: 'https://a', algorithms: ['none'] } }, 'jwt.algorithms[0]: "none"'],
  [{ jwt: { issuer: 'a', audience: 'b', jwksUrl: 'https://a', algorithms: [] } }, 'have at least 1 entry'],
  [{ tools: { allow: ['openwop'] } }, 'tools.allow[0]: "openwop" must be the id of a tool'],
  [{ tools: { allow: ['openwop:t*'] } }, 'tools.allow[0]: "openwop:t*" must be the id of a tool'],
  [{ tools: { tenants: { acme: ['*:time'] } } }, 'tools.tenants.acme[0]: "*:time" must be the id of a tool'],
  [
    { tools: { http: { allow: ['https://a.example/x'] } } },
    'tools.http.allow[0]: "https://a.example/x" must be an origin',
  ],
  [{ keys: [{ key, tenant: 'a', toolScopes: ['refunds'] }] }, 'keys[0].toolScopes[0]: must be tool:<name>'],
  [{ otel: { endpoint: 'https://a', protocol: 'grpc' } }, 'otel.protocol: "grpc" must be one of http/protobuf'],
  [{ otel: { sampling: 1 } }, 'otel.endpoint: is missing'],
])('refuses %j by name', (config, message) => {
  expect(refusal(config)).toContain(message);
});

test('takes rules of retention in their order, also fractions of days and nothing kept', () => {
  const retention = [
    { tenant: 'a', workflow: 'audit', afterDays: 0.5 },
    { keepLast: 0 },
    { afterDays: 30, keepLast: 9 },
  ];
  expect(parseConfig({ retention }, 'cairn.json').retention).toEqual(retention);
});

test('keeps keys only as hashes, whichever way they are given', () => {
  const config = parseConfig(
    {
      keys: [
        { key, tenant: 'a' },
        { keyEnv: 'K', tenant: 'b', principal: 'p', scopes: ['runs:read'] },
        { sha256: keyHash('x'), tenant: 'c' },
      ],
    },
    'test',
    { K: 'another-key-of-some-length' },
  );
  expect(config.keys).toEqual([
    { sha256: keyHash(key), tenant: 'a' },
    { sha256: keyHash('another-key-of-some-length'), tenant: 'b', principal: 'p', scopes: ['runs:read'] },
    { sha256: keyHash('x'), tenant: 'c', isOnlyHash: true },
  ]);
  expect(JSON.stringify(config)).not.toContain(key);
});

test('refuses a key or secret that can be guessed if others can reach the host, and lists it otherwise', () => {
  const strong = 'kX3vQ9mZ2pL7tR4wY8nB1s';
  const weak = { keys: [{ key, tenant: 'a' }], secrets: { crm: { value: 'hunter-22' }, good: { value: strong } } };
  const found = [
    { place: 'keys[0]', bits: 115 },
    { place: 'secrets.crm', bits: 47 },
  ];
  expect(parseConfig(weak, 'test').weakSecrets).toEqual(found);
  expect(() => parseConfig({ ...weak, bind: '0.0.0.0' }, 'test')).toThrow('keys[0] can be guessed');
  const keys = [{ key: strong, tenant: 'a' }];
  expect(() => parseConfig({ ...weak, keys, bind: '::' }, 'test')).toThrow('secrets.crm can be guessed');
  expect(parseConfig({ keys, bind: '0.0.0.0' }, 'test').weakSecrets).toEqual([]);
});

test('allows $schema, and has nothing of it', () => {
  expect(parseConfig({ $schema: './cairn.schema.json' }, 'test')).toEqual(parseConfig({}, 'test'));
});

test('has no key that nothing uses', () => {
  const given = {
    packs: ['./packs'],
    defaultAgent: 'local.a.b',
    visibility: { thoughts: 'client' },
    mcp: { servers: [{ id: 'crm', url: 'https://crm.example.org/mcp' }] },
    a2a: { peers: [{ name: 'crm', url: 'https://crm.example.org/a2a' }] },
  };
  expect(parseConfig(given, 'test').unused).toEqual([]);
});

test('takes services to sign in to, and only such as can be used', () => {
  const forge = {
    kind: 'oauth2' as const,
    authorizationEndpoint: 'https://forge.example.org/authorize',
    tokenEndpoint: 'https://forge.example.org/token',
    clientId: 'cairn',
  };
  const { signIns } = parseConfig({ signIns: { forge, ledger: { kind: 'pat' } } }, 'test');
  expect(signIns).toEqual({ forge: { ...forge, scopes: [] }, ledger: { kind: 'pat' } });
  const refused = (service: object) => () => parseConfig({ signIns: { forge: service } }, 'test');
  expect(refused({ ...forge, tokenEndpoint: 'ftp://x' })).toThrow(/signIns.forge.tokenEndpoint/);
  expect(refused({ ...forge, clientSecret: { secret: 'nothing' } })).toThrow(/signIns.forge.clientSecret/);
  expect(refused({ ...forge, scopes: ['a b'] })).toThrow(/scope/);
  expect(refused({ kind: 'biometric' })).toThrow(/signIns.forge/);
});
