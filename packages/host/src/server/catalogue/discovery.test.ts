import { discovery } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { served } from '../served.kit.ts';
import type { AgentFacts } from './agent-discovery.ts';
import { discoveryDocument } from './discovery.ts';

const facts = {
  version: '1.2.3',
  hostId: 'test',
  limits: { maxNodeExecutions: 7, maxRunDurationMs: 5_000, maxRequestBodyBytes: 99 },
  exportsTelemetry: false,
  agents: null,
  fixtures: null,
};

test('is a discovery document, and says the limits that are kept', () => {
  const document = discovery.parse(discoveryDocument(facts));
  expect(document).toMatchObject({
    supportedTransports: ['rest'],
    implementation: { name: 'cairn', version: '1.2.3' },
    limits: { maxNodeExecutions: 7, maxRunDurationMs: 5_000, maxRequestBodyBytes: 99 },
    configurable: { recursionLimit: { min: 1 }, runTimeoutMs: { min: 1 } },
    cairn: { hostId: 'test', streams: { modes: ['updates', 'values', 'messages', 'debug'], maxBufferMs: 5_000 } },
  });
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
  extensions: ['inspectInterrupt', 'resolveInterrupt'],
  restTransport: ['getRun'],
  idempotency: ['createRun'],
  cairn: ['getEvents'],
};

test('promises only what is served', async () => {
  const served = await operations();
  const families = Object.keys(discoveryDocument(facts));
  expect(families.sort()).toEqual(Object.keys(stands).sort());
  for (const family of families)
    for (const id of stands[family] ?? []) expect([family, served]).toEqual([family, expect.arrayContaining([id])]);
});

const running: AgentFacts = {
  reasoning: { verbosity: 'summary', tokenLimit: 512 },
  costEstimates: false,
  memory: null,
  limitsToolRate: false,
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

test('orchestration is advertised where agents are run, as the wire has it', () => {
  const document = discovery.parse(discoveryDocument({ ...facts, agents: running }));
  expect(document).toMatchObject({
    agents: { orchestratorPattern: 'delegate', orchestrator: true, dispatch: true, dispatchMapping: true },
    orchestrator: { supported: true, workerIdInterpretation: 'node', fanOutSupported: true },
    dispatch: { supported: true, models: ['child-run'], fanOutPolicies: ['sequential', 'reject'] },
    multiAgent: { executionModel: { supported: true, version: 2, confidenceEscalationInterruptKind: 'approval' } },
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
      liveRuntime: { supported: true, sources: ['workflow-node', 'run-api'] },
    },
    prompts: { supported: true, observability: 'hashed' },
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
  expect(remembering.memory).toMatchObject({ supported: true, maxEntrySizeBytes: 9 });
  expect(said({ costEstimates: true }).providerUsage?.costEstimates).toBe(true);
  expect(said({ limitsToolRate: true }).toolHooks?.perToolRateLimit).toBe(true);
  expect(said({ mockProviders: ['stream-text'] })).toMatchObject({
    testing: { mockProviders: ['stream-text'] },
    conformance: { mockAgent: true },
  });
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
