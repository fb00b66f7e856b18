/** Assembles the services of a host: everything that runs workflows and agents, before anything is opened or served. */
import type { Discovery } from '@cairn/protocol';
import { createAgentSource } from '../agents/agent-source.ts';
import { peerAgents } from '../agents/peer-agents.ts';
import type { PromptRegistry } from '../agents/prompts/prompt-registry.ts';
import { AgentRegistry } from '../agents/registry.ts';
import type { LateResult } from '../agents/tools/entry.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock, CrashRecord, Redactor, Report, UniqueId } from '../engine/ports.ts';
import type { EngineOptions } from '../engine/stepping/engine-options.ts';
import { createEngine } from '../engine/stepping/runtime.ts';
import type { Store } from '../log/ports/store.ts';
import { signingKey } from '../log/signed-checkpoint/signing-keys.ts';
import { KeyShapeMask } from '../redaction/key-shapes.ts';
import { createRedactor } from '../redaction/redactor.ts';
import { type CallPlace, CallTraces } from '../telemetry/call-traces.ts';
import { hostInstruments } from '../telemetry/instruments.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { forkedArtifacts } from './artifacts/forked-artifacts.ts';
import { agentFacts, createAgentRuntime } from './catalogue/agent-runtime.ts';
import { type DiscoveryFacts, discoveryDocument } from './catalogue/discovery.ts';
import { runnableFixtures } from './catalogue/fixtures.ts';
import { reportMissingTools } from './catalogue/missing-tools.ts';
import type { HostModels } from './catalogue/models.ts';
import { installPackFolders } from './catalogue/pack-folders.ts';
import type { OfferedTools } from './catalogue/tools.ts';
import type { FoundWorkflow } from './catalogue/workflow-folders.ts';
import type { ClusterNode } from './cluster/cluster-node.ts';
import { systemClock, systemTimers } from './compose.ts';
import type { HostConfig } from './config/config.ts';
import { type KnownText, keySpellings } from './config/known-secrets.ts';
import type { App } from './define-app.ts';
import { createEgress } from './egress/egress.ts';
import { publicDns } from './egress/public-dns.ts';
import { engineOptions } from './engine-settings.ts';
import { HostAddress } from './host-address.ts';
import type { HostExtension } from './host-extension.ts';
import type { IdentifiedConfig } from './host-id.ts';
import type { IdempotencyPorts } from './idempotency/idempotency.ts';
import { hostIdentities } from './identity/host-identities.ts';
import { TreePurger } from './retention/purger.ts';
import { removeRunFiles, runFolder } from './runs/run-files.ts';
import { CHECKPOINT_KEYS, type DeriveKeys, folderSecret, hostSecret } from './secrets/host-secret.ts';
import { redactedReport } from './secrets/redacted-report.ts';
import { createVault } from './secrets/vault.ts';
import type { VaultPorts } from './sign-ins/credential-vault.ts';
import { SignIns } from './sign-ins/sign-ins.ts';
import { hostVersion } from './version.ts';

export interface HostServices {
  readonly engine: Engine;
  /** The instrumented store; writes that bypass it are missing from the metrics. */
  readonly store: Store;
  readonly telemetry: Telemetry;
  readonly report: Report;
  readonly redactor: Redactor | null;
  readonly discovery: Discovery;
  readonly registry: AgentRegistry;
  readonly tools: OfferedTools;
  readonly prompts: PromptRegistry;
  readonly models: HostModels;
  readonly signIns: SignIns;
  readonly address: HostAddress;
  readonly deriveKeys: DeriveKeys;
  /** Keys of the digests in idempotency records, the current one first. */
  readonly digestKeys: IdempotencyPorts['digestKeys'];
  readonly extension: HostExtension;
  readonly purger: TreePurger;
  readonly clusterNode: ClusterNode;
}

export interface ServiceOptions extends Omit<App, 'workflows'> {
  readonly telemetry: Telemetry;
  readonly report: Report;
  readonly extension: HostExtension;
  readonly crashes: CrashRecord | null;
  readonly cluster: ClusterNode;
  /** The folder of the host key. Null for a store that the caller opened; the key then lives as long as the process. */
  readonly folder: string | null;
  /** Workflow definitions of the host, besides those of its packs. */
  readonly workflows: readonly FoundWorkflow[];
  readonly allowUnsignedPacks: boolean;
  /** Whether definitions may be edited without a new version. */
  readonly dev: boolean;
  /** The time and the ids of runs. Default: those of the system. */
  readonly clock?: Clock | undefined;
  readonly uniqueId?: UniqueId | undefined;
}

export interface CreatedServices {
  readonly services: HostServices;
  /** The definitions to register. */
  readonly workflows: readonly FoundWorkflow[];
  /** Replaces what the host's code defines, except workflows. */
  readonly redefine: (app: App) => Promise<void>;
}

/** The engine is created last and is not open yet. */
export async function createServices(config: IdentifiedConfig, options: ServiceOptions): Promise<CreatedServices> {
  const { telemetry, extension, workflows, cluster, clock = systemClock } = options;
  const store = { ...telemetry.store, artifacts: forkedArtifacts(telemetry.store) };
  const { deriveKeys, redactor } = hostSecrets(config, options.folder);
  const report = redacting(options.report, redactor);
  const facts = { ...discoveryFacts(config, options), checkpointKeys: checkpointKeysOf(deriveKeys) };
  // Packs are checked against what the host offers, before it is known which of the fixtures they make runnable.
  const registry = registryOf(config, { ...options, store, clock, redactor, discovery: discoveryDocument(facts) });
  await registry.defineOwn(ownAgentsOf(config, options), hostVersion());
  const ofPacks = await installPackFolders(registry, config.packs, { workflows, prompts: options.prompts });
  const fixtures = extension.isUnderTest ? await runnableFixtures(workflows, registry) : null;
  const discovery = discoveryDocument({ ...facts, fixtures });
  const agentSource = createAgentSource(registry, store.definitions);
  const signing = signInsOf(config, { credentials: store.credentials, keys: deriveKeys('credentials'), clock });
  const traces = new CallTraces(store.log, config.otel?.sampling ?? 0);
  const { served, redefine, large, ...runtime } = createAgentRuntime(config, {
    store,
    traces,
    cluster,
    ...signing,
    agentSource,
    clock,
    redactor,
    extension,
    ...noticesOf(report, telemetry),
    ...{ agents: options.agents, tools: options.tools, prompts: options.prompts, packPrompts: ofPacks.prompts },
  });
  reportMissingTools(options.agents, served.tools.registry, report);
  const engine = createEngine({
    ...engineOptions(config, options),
    ...traced({ ...runtime, agentMetadata: hostIdentities(config, { now: () => clock.now(), report }) }, traces),
    store,
    replacesVersions: options.dev,
    runOptions: Object.keys(discovery.configurable ?? {}),
    steps: options.steps.map(large),
    report,
    redactor,
    entryMask: config.maskKeyShapes ? new KeyShapeMask() : null,
    vault: createVault(deriveKeys('sensitive-values'), redactor),
    crashes: options.crashes,
  });
  return {
    services: {
      engine,
      store,
      telemetry,
      report,
      redactor,
      discovery,
      registry,
      ...served,
      ...signing,
      deriveKeys,
      digestKeys: digestKeysOf(config, options.folder, deriveKeys),
      extension,
      purger: purgerOf(config, telemetry),
      clusterNode: cluster,
    },
    workflows: [...workflows, ...ofPacks.workflows],
    redefine: async (app) => {
      redefine(app);
      reportMissingTools(app.agents, served.tools.registry, report);
      engine.defineSteps(app.steps.map(large));
      await registry.defineOwn(ownAgentsOf(config, app), hostVersion());
    },
  };
}

const checkpointKeysOf = (deriveKeys: HostServices['deriveKeys']) =>
  deriveKeys(CHECKPOINT_KEYS).map((secret) => signingKey(secret).publicKey);

/** The agents of the code, and one for each A2A peer of the configuration. */
const ownAgentsOf = ({ a2a }: HostConfig, { agents }: Pick<App, 'agents'>): App['agents'] => [
  ...agents,
  ...peerAgents(a2a.peers),
];

/** Every request that a call makes, and every run that it starts, continues the trace of its run. */
const traced = <Runtime extends Pick<EngineOptions, 'performers'>>(runtime: Runtime, traces: CallTraces) => ({
  ...runtime,
  performers: runtime.performers?.map((performer) => traces.traced(performer)) ?? [],
  traceOf: (call: CallPlace) => traces.of(call),
});

interface RegistryPorts extends Pick<HostServices, 'store' | 'redactor' | 'discovery'> {
  readonly clock: Clock;
  readonly allowUnsignedPacks: boolean;
}

const registryOf = (config: HostConfig, { store, clock, allowUnsignedPacks, ...ports }: RegistryPorts): AgentRegistry =>
  new AgentRegistry({
    ...ports,
    definitions: store.definitions,
    packs: store.packs,
    now: () => clock.now(),
    policy: { trust: config.packs.trust, allowUnsigned: allowUnsignedPacks },
    maxTenantBytes: config.limits.tenantLogBytes,
  });

function signInsOf(
  { signIns: services, secrets, publicUrl }: HostConfig,
  { clock, ...vault }: Omit<VaultPorts, 'now'> & { readonly clock: Clock },
): Pick<HostServices, 'signIns' | 'address'> {
  const address = new HostAddress(publicUrl);
  // The operator chose these addresses, so they may be in a private network.
  const allow = Object.values(services).flatMap((one) => (one.kind === 'oauth2' ? [one.tokenEndpoint] : []));
  const signIns = new SignIns({
    ...vault,
    services,
    now: () => clock.now(),
    secret: (name) => secrets.get(name)?.reveal(),
    egress: createEgress({ allow, resolve: publicDns, timers: systemTimers }),
    baseUrl: () => address.url,
  });
  return { signIns, address };
}

const purgerOf = ({ data }: HostConfig, { store, recorder }: Telemetry): TreePurger =>
  new TreePurger({
    ...store,
    removeFiles: removeRunFiles(runFolder(data)),
    timers: systemTimers,
    now: systemClock.now,
    recorder,
  });

export const redactorOf = (known: readonly KnownText[]): Redactor | null =>
  known.length === 0 ? null : createRedactor(known.map(({ name, text }) => ({ name, value: text.reveal() })));

/** A line in the log and a metric, so that an operator finds tools that do not heed their signal. */
const noticesOf = (report: Report, { recorder }: Telemetry) => ({
  report,
  lateResult: (call: LateResult): void => {
    report({ level: 'info', event: 'tool.late_result', facts: { ...call } });
    recorder.add(hostInstruments.lateResults, [call.toolId]);
  },
});

export const redacting = (report: Report, redactor: Redactor | null): Report =>
  redactor === null ? report : redactedReport(report, redactor);

/** Requires that this process owns the folder. The redactor covers the folder's key like the other secrets. */
function hostSecrets(config: HostConfig, folder: string | null): Pick<HostServices, 'deriveKeys' | 'redactor'> {
  const deriveKeys = hostSecret({ masterKey: config.masterKey, folder });
  const key = folderSecret(folder);
  const ofFolder = key === null ? [] : keySpellings('host.key', key);
  return { deriveKeys, redactor: redactorOf([...config.knownSecrets, ...ofFolder]) };
}

/** Without a key that outlives the process, an empty one: a restarted host must know its records. */
function digestKeysOf({ masterKey }: HostConfig, folder: string | null, deriveKeys: DeriveKeys) {
  if (masterKey === undefined && folder === null) return [''] as const;
  const [current, ...earlier] = deriveKeys('request-digest').map((key) => key.toString('hex'));
  return [current ?? '', ...earlier] as const;
}

const discoveryFacts = (config: IdentifiedConfig, { extension }: ServiceOptions): DiscoveryFacts => ({
  version: hostVersion(),
  hostId: config.hostId,
  limits: config.limits,
  jwt: config.jwt,
  exportsTelemetry: config.otel !== undefined,
  oauthProviders: Object.entries(config.signIns).flatMap(([id, { kind }]) => (kind === 'oauth2' ? [id] : [])),
  agents: agentFacts(config, extension),
  fixtures: extension.isUnderTest ? [] : null,
});
