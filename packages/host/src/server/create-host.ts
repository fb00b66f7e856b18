/** A whole host in one call: store, engine and, unless it is not wanted, the HTTP surface. */
import { type Discovery, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import { createAgentSource } from '../agents/agent-source.ts';
import type { DefinedAgent } from '../agents/define-agent.ts';
import type { PromptTemplate } from '../agents/prompts/prompt-template.ts';
import { AgentRegistry } from '../agents/registry.ts';
import type { Tool } from '../agents/tools/tool.ts';
import type { Engine } from '../engine/engine.ts';
import type { Redactor, Report, Step } from '../engine/ports.ts';
import { createEngine, type EngineOptions } from '../engine/stepping/runtime.ts';
import type { Store } from '../log/ports/store.ts';
import { openSqliteStore } from '../log/sqlite/open.ts';
import { createRedactor } from '../redaction/redactor.ts';
import { startTelemetry, type Telemetry } from '../telemetry/telemetry.ts';
import { agentFacts, createAgentRuntime } from './catalogue/agent-runtime.ts';
import { discoveryDocument } from './catalogue/discovery.ts';
import { installPackFolders } from './catalogue/pack-folders.ts';
import { type FoundWorkflow, readWorkflowFolders, registerWorkflows } from './catalogue/workflow-folders.ts';
import { elapsedMs, sha256, stderrReport, systemClock, systemTimers, uniqueId } from './compose.ts';
import { type ConfigInput, type HostConfig, parseConfig } from './config/config.ts';
import { type KnownText, keySpellings } from './config/known-secrets.ts';
import { IDEMPOTENCY_RETENTION_MS } from './idempotency/idempotency.ts';
import { type DeriveKeys, folderSecret, hostSecret } from './secrets/host-secret.ts';
import { redactedReport } from './secrets/redacted-report.ts';
import { type Serving, serve } from './serve.ts';
import { hostVersion } from './version.ts';

export interface HostOptions {
  /** What `cairn.json` would say. Default: port 4700 on 127.0.0.1, data in `.cairn`, no keys. */
  readonly config?: ConfigInput;
  /** Functions of `defineStep` that workflows may name. */
  readonly steps?: readonly Step[];
  /** Agents of `defineAgent`, for every tenant. */
  readonly agents?: readonly DefinedAgent[];
  /** Tools of `defineTool` that agents may call, if their manifests list them. */
  readonly tools?: readonly Tool[];
  /** Templates that agent nodes may refer to. */
  readonly prompts?: readonly PromptTemplate[];
  /** Definitions to register at start, for each tenant of the keys; without keys, for the tenant `local`. */
  readonly workflows?: readonly WorkflowDefinition[];
  /** Take packs that no key of `packs.trust` signed, as `cairn dev` does. Default false. */
  readonly allowUnsignedPacks?: boolean;
  /** Serve HTTP. Default true; false gives an engine for this process only. */
  readonly http?: boolean;
  /** Use this store instead of a database in `config.data`; the host closes it. */
  readonly store?: Store;
  /** Where notices go. Default: JSON lines on stderr. */
  readonly report?: Report;
}

export interface Host {
  /** Where it serves; null without HTTP. */
  readonly url: string | null;
  readonly engine: Engine;
  /** Ends streams, lets requests finish, stops the engine and closes the store: within ten seconds. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The tenant of a host that has no keys. */
const LOCAL_TENANT = 'local';

/** How long requests that are under way may take once the host stops. */
const CLOSE_WITHIN_MS = 8_000;

/** How often outcomes of old requests are forgotten. */
const EXPIRE_EVERY_MS = 3_600_000;

/** Starts a host from options in code. Resolves once it serves. */
export function createHost(options: HostOptions = {}): Promise<Host> {
  return startHost(parseConfig(options.config ?? {}, 'config', process.env), options);
}

/** Starts a host from a checked configuration. */
export async function startHost(config: HostConfig, options: Omit<HostOptions, 'config'> = {}): Promise<Host> {
  const { http = true } = options;
  const said = redacting(options.report ?? stderrReport(), redactorOf(config.knownSecrets));
  if (http) refuseWithoutCallers(config);
  tellUnused(config, said);
  const workflows = [
    ...(await readWorkflowFolders(config.workflows)),
    ...(options.workflows ?? []).map((definition) => ({ source: `workflow ${definition.id}`, definition })),
  ];
  const onFault = (error: unknown) => said({ level: 'error', event: 'store.fault', error });
  const opened = options.store ?? (await openSqliteStore({ folder: config.data, onFault, elapsedMs }));
  const telemetry = await watched(opened, config, said);
  const { store } = telemetry;
  let engine: Engine | null = null;
  try {
    // A store that was handed in has no folder of the host's; then the secret lives as long as the process.
    const { deriveKeys, redactor } = ownSecrets(config, options.store === undefined ? config.data : null);
    const report = redacting(said, redactor);
    const discovery = documentOf(config, workflows);
    const registry = new AgentRegistry({
      records: store.records,
      now: systemClock.now,
      policy: { trust: config.packs.trust, allowUnsigned: options.allowUnsignedPacks ?? false },
      discovery,
      redactor,
    });
    await registry.defineOwn(options.agents ?? [], hostVersion());
    const ofPacks = await installPackFolders(registry, config.packs.folders, workflows);
    const agentSource = createAgentSource(registry, store.records);
    const runtime = createAgentRuntime(config, { ...options, store, agentSource, redactor });
    const { tools, models, ...kinds } = runtime;
    const running = engineOf(config, { store, steps: options.steps ?? [], ...kinds, report, redactor });
    engine = running;
    await registerWorkflows(running, tenantsOf(config), [...workflows, ...ofPacks]);
    await running.open();
    telemetry.readiness.engineOpened();
    const parts = {
      engine: running,
      store,
      telemetry,
      report,
      redactor,
      discovery,
      registry,
      tools,
      models,
      deriveKeys,
    };
    const server = http ? await serve(config, parts) : null;
    const stopExpiring = expireRecords(store, report);
    return hostOf(running, server, async () => {
      stopExpiring();
      telemetry.readiness.stopping();
      await server?.http.close(CLOSE_WITHIN_MS);
      await running.close();
      await telemetry.close();
      await store.close();
    });
  } catch (error) {
    await engine?.close();
    await telemetry.close();
    await store.close();
    throw error;
  }
}

const redactorOf = (known: readonly KnownText[]): Redactor | null =>
  known.length === 0 ? null : createRedactor(known.map(({ name, text }) => ({ name, value: text.reveal() })));

const redacting = (report: Report, redactor: Redactor | null): Report =>
  redactor === null ? report : redactedReport(report, redactor);

/** Once the folder is this process's own, its key is known, and is kept out of the log like the others. */
function ownSecrets(config: HostConfig, folder: string | null): { deriveKeys: DeriveKeys; redactor: Redactor | null } {
  const deriveKeys = hostSecret({ masterKey: config.masterKey, folder });
  const key = folderSecret(folder);
  const ofFolder = key === null ? [] : keySpellings('host.key', key);
  return { deriveKeys, redactor: redactorOf([...config.knownSecrets, ...ofFolder]) };
}

type EngineParts = Pick<
  EngineOptions,
  'store' | 'steps' | 'report' | 'redactor' | 'nodeTypes' | 'performers' | 'agents'
>;

const engineOf = ({ hostId, limits }: HostConfig, parts: EngineParts): Engine =>
  createEngine({
    ...parts,
    clock: systemClock,
    uniqueId,
    sha256,
    owner: `${hostId}/${uniqueId()}`,
    limits: {
      maxNodeExecutions: limits.maxNodeExecutions,
      maxRunDurationMs: limits.maxRunDurationMs ?? null,
      maxRunDepth: limits.maxRunDepth,
      maxRunsPerTree: limits.maxRunsPerTree,
    },
  });

const documentOf = (config: HostConfig, workflows: readonly FoundWorkflow[]): Discovery =>
  discoveryDocument({
    version: hostVersion(),
    hostId: config.hostId,
    limits: config.limits,
    exportsTelemetry: config.otel !== undefined,
    agents: agentFacts(config),
    fixtures: config.conformance ? workflows.map(({ definition }) => definition.id) : null,
  });

async function watched(store: Store, config: HostConfig, report: Report): Promise<Telemetry> {
  const host = { hostId: config.hostId, version: hostVersion() };
  try {
    return await startTelemetry(config.otel, { store, report, timers: systemTimers, now: systemClock.now, host });
  } catch (error) {
    await store.close();
    throw error;
  }
}

function refuseWithoutCallers({ keys, jwt }: HostConfig): void {
  if (keys.length > 0 || jwt !== undefined) return;
  throw new TerminalError('config_invalid', {
    message: 'The configuration has no keys and no jwt: nobody could call this host.',
    hint: 'Add "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "…" }], or run "cairn dev", which makes one.',
  });
}

function tellUnused({ unused }: HostConfig, report: Report): void {
  if (unused.length === 0) return;
  report({ level: 'warn', event: 'config.unused_keys', facts: { unused } });
}

const tenantsOf = (config: HostConfig): readonly string[] =>
  config.keys.length === 0 ? [LOCAL_TENANT] : [...new Set(config.keys.map((key) => key.tenant))];

function hostOf(engine: Engine, server: Serving | null, stop: () => Promise<void>): Host {
  let stopped: Promise<void> | null = null;
  const close = () => {
    stopped ??= stop();
    return stopped;
  };
  return { url: server?.url ?? null, engine, close, [Symbol.asyncDispose]: close };
}

function expireRecords(store: Store, report: Report): () => void {
  const expire = () => {
    store.records.expireIdempotency(Date.now() - IDEMPOTENCY_RETENTION_MS).catch((error: unknown) => {
      report({ level: 'warn', event: 'idempotency.expire_failed', error });
    });
  };
  const timer = setInterval(expire, EXPIRE_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
