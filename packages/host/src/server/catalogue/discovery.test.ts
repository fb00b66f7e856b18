import { discovery, type JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { sampleAgentId, samplePack } from '../../../test/kit/sample-pack.ts';
import { SCHEMA_ROUNDS } from '../../agents/loop/repairs.ts';
import { AgentRegistry } from '../../agents/registry.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { noop } from '../sample-workflows.kit.ts';
import { served } from '../served.kit.ts';
import type { AgentFacts } from './agent-discovery.ts';
import { discoveryDocument } from './discovery.ts';
import { runnableFixtures } from './fixtures.ts';
import { servedClasses } from './model-classes.ts';

const facts = {
  version: '1.2.3',
  hostId: 'test',
  limits: { maxNodeExecutions: 7, maxRunDurationMs: 5_000, maxRequestBodyBytes: 99, clarificationRounds: 4 },
  exportsTelemetry: false,
  agents: null,
  fixtures: null,
};

test('is a discovery document, and says the limits that are kept', () => {
  const document = discovery.parse(discoveryDocument(facts));
  expect(document).toMatchObject({
    supportedTransports: ['rest'],
    implementation: { name: 'cairn', version: '1.2.3' },
    limits: {
      maxNodeExecutions: 7,
      maxRunDurationMs: 5_000,
      maxRequestBodyBytes: 99,
      clarificationRounds: 4,
      envelopesPerTurn: 4,
      schemaRounds: SCHEMA_ROUNDS,
    },
    auth: { profiles: [] },
    configurable: { recursionLimit: { min: 1 }, runTimeoutMs: { min: 1 } },
    cairn: {
      hostId: 'test',
      sequenceHoles: true,
      streams: { modes: ['updates', 'values', 'messages', 'debug'], maxBufferMs: 5_000 },
      taskEvents: { stream: '/api/contexts/{contextId}/stream', toolCancel: true },
    },
  });
  expect(document.cairn).not.toHaveProperty('frontEnds');
});

/** What each family of the document promises, as the operations it stands on. A family that is not here fails the test. */
const stands: Readonly<Record<string, readonly string[]>> = {
  protocolVersion: ['getDiscovery', 'getOpenApi'],
  implementation: [],
  engineVersion: [],
  eventLogSchemaVersion: ['getEvents', 'pollEvents'],
  supportedTransports: ['createRun', 'getRun'],
  supportedEnvelopes: ['answerInterrupt'],
  schemaVersions: [],
  limits: [],
  configurable: ['createRun'],
  runs: ['pauseRun', 'resumeRun'],
  subWorkflow: ['createRun'],
  conversationPrimitive: ['answerInterrupt'],
  multiPartyConversation: ['answerInterrupt'],
  agents: ['listAgents', 'getAgent', 'installPack'],
  webhooks: ['registerWebhook', 'deleteWebhook'],
  debugBundle: ['getDebugBundle'],
  replay: ['forkRun'],
  extensions: ['inspectInterrupt', 'resolveInterrupt'],
  restTransport: ['getRun'],
  auth: ['getRun'],
  idempotency: ['createRun'],
  cairn: ['getEvents', 'streamContext', 'cancelToolCall', 'sendMessage', 'runAgui', 'sendAiSdkChat'],
};

test('promises only what is served', async () => {
  const served = await operations();
  const families = Object.keys(discoveryDocument(facts));
  expect(families.sort()).toEqual(Object.keys(stands).sort());
  for (const family of families)
    for (const id of stands[family] ?? []) expect([family, served]).toEqual([family, expect.arrayContaining([id])]);
});

const running: AgentFacts = {
  modelClasses: ['chat'],
  isLive: true,
  escalates: true,
  providers: ['local', 'scripted'],
  byok: [],
  reasoning: { verbosity: 'summary', tokenLimit: 512 },
  costEstimates: false,
  memory: null,
  limitsToolRate: false,
  hasMcpTools: false,
  mockProviders: [],
};

test('agents that nothing runs are installed and listed, and that is all that is said of them', () => {
  const { agents, prompts, toolHooks, configurable } = discoveryDocument(facts);
  expect(agents).toEqual({
    supported: false,
    modelClasses: ['reasoning', 'chat', 'code', 'retrieval', 'classification'],
    manifestRuntime: { supported: false, installScope: 'tenant' },
  });
  expect([prompts, toolHooks, configurable?.escalationThreshold]).toEqual([undefined, undefined, undefined]);
});

test('names the addresses for front ends where agents are run, and serves them', async () => {
  const [messages, agui, aiSdk] = ['/api/messages', '/api/agui/{agentId}', '/api/ai-sdk/{agentId}'];
  expect(discoveryDocument({ ...facts, agents: running })).toMatchObject({
    cairn: { frontEnds: { messages: { path: messages }, agui: { path: agui }, aiSdk: { path: aiSdk } } },
  });
  const { routes } = (await served()).server;
  const posts = routes.filter(({ method }) => method === 'POST').map(({ path }) => path);
  expect(posts).toEqual(expect.arrayContaining([messages, agui, aiSdk]));
});

test('orchestration is advertised where agents are run, as the wire has it', () => {
  const document = discovery.parse(discoveryDocument({ ...facts, agents: running }));
  expect(document).toMatchObject({
    agents: { orchestratorPattern: 'delegate', orchestrator: true, dispatch: true, dispatchMapping: true },
    orchestrator: { supported: true, workerIdInterpretation: 'node', fanOutSupported: true },
    dispatch: { supported: true, models: ['child-run'], fanOutPolicies: ['sequential', 'reject'] },
    multiAgent: {
      executionModel: {
        supported: true,
        version: 4,
        crossHostCausation: { supported: true, hostId: facts.hostId },
        replayDeterminism: { supported: true, llmCacheKeyRecipe: 'spec-rfc-0041', refusalDivergenceEmission: true },
        confidenceEscalationFloor: 0.5,
        confidenceEscalationInterruptKind: 'approval',
      },
    },
    subWorkflow: { inputMapping: true },
    cairn: { dispatch: { fanOutPolicies: ['parallel'], joinPolicies: ['all', 'any', 'settled'], maxFanOut: 256 } },
  });
  const without = discoveryDocument(facts);
  expect([without.orchestrator, without.dispatch, without.multiAgent]).toEqual([undefined, undefined, undefined]);
});

test('agents that are run are advertised with every kind of event they write', () => {
  const document = discovery.parse(discoveryDocument({ ...facts, agents: running }));
  expect(document).toMatchObject({
    agents: {
      supported: true,
      reasoningEvents: true,
      toolEvents: true,
      handoffEvents: true,
      decisionEvents: true,
      reasoning: { verbosity: 'summary', tokenLimit: 512, streaming: true },
      manifestRuntime: { supported: true, handoffValidation: true, installScope: 'tenant' },
      liveRuntime: { supported: true, confidenceEscalation: true, sources: ['workflow-node', 'run-api'] },
      modelClasses: ['chat'],
    },
    prompts: {
      supported: true,
      templateKinds: ['system', 'user', 'few-shot', 'schema-hint'],
      variableSources: ['input', 'variable', 'context'],
      observability: 'hashed',
    },
    secrets: { supported: false },
    aiProviders: { supported: ['local', 'scripted'], byok: [] },
    providerUsage: { supported: true },
    toolHooks: { supported: true, prePostEvents: true, perToolAuthorization: true },
    toolCatalog: { supported: true },
    configurable: { escalationThreshold: { min: 0, max: 1 }, reasoningVerbosity: {} },
  });
});

test('what only some hosts have is advertised where it is', () => {
  const said = (fields: Partial<AgentFacts>) => discoveryDocument({ ...facts, agents: { ...running, ...fields } });
  const none = said({});
  expect(none.agents).not.toHaveProperty('memoryBackends');
  expect(none.multiAgent?.executionModel).not.toHaveProperty('crossChildMemoryConcurrency');
  expect(none.providerUsage).toEqual({ supported: true });
  expect(none.toolHooks).not.toHaveProperty('perToolRateLimit');
  expect([none.testing, none.conformance, none.memory]).toEqual([undefined, undefined, undefined]);
  const remembering = said({ memory: { maxEntryBytes: 9 } });
  expect(remembering.multiAgent?.executionModel?.crossChildMemoryConcurrency).toBe('strict');
  expect(remembering.agents?.memoryBackends).toEqual(['long-term']);
  expect(remembering.memory).toMatchObject({
    supported: true,
    maxEntrySizeBytes: 9,
    search: { supported: true, modes: ['filter'] },
    retention: { ttl: true },
  });
  expect(said({ isLive: false }).agents?.liveRuntime).toEqual({ supported: false });
  expect(said({ escalates: false }).agents).toMatchObject({
    orchestrator: false,
    liveRuntime: { supported: true, confidenceEscalation: false },
  });
  expect(said({ byok: ['local'] })).toMatchObject({
    secrets: { supported: true, scopes: ['tenant'], resolution: 'host-managed' },
    aiProviders: { byok: ['local'] },
  });
  expect(said({ costEstimates: true }).providerUsage?.costEstimates).toBe(true);
  expect(none.toolCatalog).toEqual({ supported: true, sources: ['host-extension'] });
  expect(said({ hasMcpTools: true }).toolCatalog?.sources).toEqual(['host-extension', 'mcp']);
  expect(said({ limitsToolRate: true }).toolHooks?.perToolRateLimit).toBe(true);
  expect(said({ mockProviders: ['stream-text'] })).toMatchObject({
    testing: { mockProviders: ['stream-text'] },
    conformance: { mockAgent: true },
    configurable: { mockProvider: { type: 'object' } },
  });
});

test('the classes of models are those that are configured; all with a default, or where none is', () => {
  const all = ['reasoning', 'chat', 'code', 'retrieval', 'classification'];
  expect(servedClasses({ providers: {}, classes: {} })).toEqual(all);
  expect(servedClasses({ providers: {}, classes: { code: 'a/b', vision: 'a/c' } })).toEqual(['code', 'vision']);
  expect(servedClasses({ providers: {}, classes: { code: 'a/b', vision: 'a/c' }, default: 'a/b' })).toEqual([
    ...all,
    'vision',
  ]);
});

test('tokens of an issuer are advertised as they are checked', () => {
  const jwt = {
    issuer: 'https://id.example',
    audience: 'cairn',
    jwksUrl: 'https://id.example/jwks',
    algorithms: ['ES256' as const],
    clockToleranceMs: 0,
    claims: { tenant: 'tenant', principal: 'sub', scopes: 'scope' },
  };
  expect(discoveryDocument({ ...facts, jwt }).auth).toEqual({
    profiles: ['openwop-auth-oauth2-client-credentials', 'openwop-auth-oidc-user-bearer'],
    oauth2: { supported: true, issuer: jwt.issuer, audience: 'cairn', supportedAlgorithms: ['ES256'] },
    oidc: { supported: true, issuers: [jwt.issuer], audience: 'cairn', supportedScopeMapping: 'scope-claim' },
  });
  const { auth } = discoveryDocument({ ...facts, jwt: { ...jwt, issuer: 'id' } });
  expect([auth?.oauth2, auth?.oidc]).toEqual([
    expect.not.objectContaining({ issuer: 'id' }),
    expect.not.objectContaining({ issuers: ['id'] }),
  ]);
});

test('a fixture is listed only where the pack and the agent that it names are installed', async () => {
  const found = (id: string, metadata: JsonObject) => ({ source: id, definition: { ...noop, id, metadata } });
  const workflows = [
    found('plain', {}),
    found('pack', { requiresInstalledPack: 'vendor.acme.desk' }),
    found('agent', { requiresAgentId: sampleAgentId }),
  ];
  const registry = new AgentRegistry({
    definitions: inMemoryStore().definitions,
    packs: inMemoryStore().packs,
    now: Date.now,
    policy: { trust: [], allowUnsigned: true },
    discovery: discoveryDocument(facts),
  });
  expect(await runnableFixtures(workflows, registry)).toEqual(['plain']);
  await registry.installForHost(samplePack());
  expect(await runnableFixtures(workflows, registry)).toEqual(['plain', 'pack', 'agent']);
});

const operations = async (conformance = false): Promise<readonly string[]> => {
  const host = await served({ conformance });
  return host.server.routes.map(({ doc }) => doc.id);
};

test('says that telemetry is exported only where it is', () => {
  expect(discoveryDocument(facts).observability).toBeUndefined();
  const { observability } = discoveryDocument({ ...facts, exportsTelemetry: true });
  expect(observability).toEqual({ otel: { exportProtocols: ['http/protobuf', 'http/json'] } });
});

test('names the seams only where they are served', async () => {
  const { observability } = discoveryDocument({ ...facts, fixtures: [] });
  expect(observability).toEqual({ testSeams: { otelScrape: true, debugBundleExport: true } });
  expect(await operations(true)).toEqual(expect.arrayContaining(['testSpans', 'testDebugBundle']));
  expect(await operations()).not.toEqual(expect.arrayContaining(['testSpans']));
});

test('lists fixtures and mirrors the families in conformance mode', () => {
  const document = discoveryDocument({ ...facts, fixtures: ['conformance-noop'] });
  expect(document.fixtures).toEqual(['conformance-noop']);
  const { fixtures: _, capabilities, ...families } = document;
  expect(capabilities).toEqual(families);
});

test('needs no key, can be cached, and is not sent again unchanged', async () => {
  const host = await served();
  const first = await host.ask('GET', '/.well-known/openwop', { key: null });
  const etag = first.headers.get('etag') ?? '';
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
  const status = async (known: string) =>
    (await host.ask('GET', '/.well-known/openwop', { key: null, headers: { 'if-none-match': known } })).status;
  expect(await status(etag)).toBe(304);
  expect(await status(`"other", W/${etag}`)).toBe(304);
  expect(await status('*')).toBe(304);
  expect(await status('"other"')).toBe(200);
});
