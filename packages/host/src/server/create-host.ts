/** Starts a whole host in one call: store, engine and, by default, the HTTP surface. */
import { TerminalError } from '@cairn/protocol';
import type { Engine } from '../engine/engine.ts';
import type { Clock, Report, UniqueId } from '../engine/ports.ts';
import type { Store } from '../log/ports/store.ts';
import { startTelemetry, type TelemetryPorts } from '../telemetry/telemetry.ts';
import { type FoundWorkflow, readWorkflowFolders, registerWorkflows } from './catalogue/workflow-folders.ts';
import { ClusterNode } from './cluster/cluster-node.ts';
import {
  randomHexSupply,
  sampleEventLoop,
  stderrReport,
  systemClock,
  systemEventLoop,
  uniqueId as systemId,
  systemTimers,
} from './compose.ts';
import { type ConfigInput, type HostConfig, parseConfig } from './config/config.ts';
import { type OpenCrashRecord, openCrashRecord } from './crashes/crash-record.ts';
import { SharedCrashRecord, type SharedCrashRecordPorts } from './crashes/shared-crash-record.ts';
import { type App, defineApp } from './define-app.ts';
import { type HostExtension, noExtension } from './host-extension.ts';
import type { IdentifiedConfig } from './host-id.ts';
import { createServices, type HostServices, redacting, redactorOf } from './host-services.ts';
import { type ExpiryPorts, startExpiry } from './idempotency/expire-records.ts';
import { openStore } from './open-store.ts';
import { ofCode, redefineHost } from './redefine-host.ts';
import { type SweepPorts, startRetention } from './retention/sweep.ts';
import { followRuns, type RunNotice } from './run-notices.ts';
import { type Serving, serve } from './serve.ts';
import { hostVersion } from './version.ts';

export interface HostOptions extends Partial<App> {
  /** The content of `cairn.json`. Default: port 4700 on 127.0.0.1, data in `.cairn`, no keys. */
  readonly config?: ConfigInput;
  /** Accept packs that no key of `packs.trust` signed, as `cairn dev` does. Default false. */
  readonly allowUnsignedPacks?: boolean;
  /**
   * Accept an edited workflow definition under the same version, as `cairn dev` does. New runs use the definition that
   * was registered last; a run keeps the one it started with. Default false: the version must change.
   */
  readonly dev?: boolean;
  /** Serve HTTP. Default true; false gives an engine for this process only. */
  readonly http?: boolean;
  /** Where notices go. Default: JSON lines on stderr. */
  readonly report?: Report;
}

/** Not public: the store ports may change in any version. */
export interface StartOptions extends Omit<HostOptions, 'config'> {
  /** Use this store instead of a database in `config.data`. The host closes it. */
  readonly store?: Store | undefined;
  /** The folder of that store, for the crash record. Default: this host keeps none. */
  readonly storeFolder?: string | undefined;
  /** Called when a run starts and when it ends. */
  readonly onRun?: ((notice: RunNotice) => void) | undefined;
  /** Where the process tells of rejections that nobody handled. Default: the process decides what becomes of them. */
  readonly onRejection?: ((handle: (reason: unknown) => void) => () => void) | undefined;
  /** The time and the ids of runs, so that a history can be recorded again. Default: those of the system. */
  readonly clock?: Clock | undefined;
  readonly uniqueId?: UniqueId | undefined;
}

/** Not public: a host that takes a changed program. */
export interface RunningHost extends Host {
  /**
   * Replaces what the program defines. Runs keep their workflow and their agents; the next call of a tool or a step uses
   * the new function. An app that is refused changes nothing.
   */
  redefine(app: App): Promise<void>;
}

export interface Host {
  /** The URL of the host; null without HTTP. */
  readonly url: string | null;
  readonly engine: Engine;
  /** Ends streams, lets requests finish, stops the engine and closes the store, within ten seconds. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The tenant of a host without keys. */
const LOCAL_TENANT = 'local';

/** How long requests in progress may take once the host stops. */
const CLOSE_WITHIN_MS = 8_000;

/** Starts a host from options in code. Resolves once it serves. */
export function createHost(options: HostOptions = {}): Promise<Host> {
  return startHost(parseConfig(options.config ?? {}, 'config', process.env), options);
}

/** Like `createHost`, over a store that the caller opened, for tests and benchmarks. */
export function createHostOver(
  store: Store,
  options: HostOptions & Pick<StartOptions, 'storeFolder' | 'clock' | 'uniqueId'> = {},
): Promise<Host> {
  return startHost(parseConfig(options.config ?? {}, 'config', process.env), { ...options, store });
}

/** Starts a host from a validated configuration. */
export async function startHost(given: HostConfig, options: StartOptions = {}): Promise<RunningHost> {
  const { http = true, allowUnsignedPacks = false, dev = false, onRun } = options;
  const app = appIn(options);
  const report = redacting(options.report ?? stderrReport(), redactorOf(given.knownSecrets));
  if (http) refuseWithoutCallers(given);
  reportUnusedKeys(given, report);
  for (const { place, bits } of given.weakSecrets) {
    report({ level: 'warn', event: 'config.weak_secret', facts: { place, bits, refused: false } });
  }
  const found = await foundWorkflows(given, app.workflows);
  const opened: Closable[] = watchingRejections(options, report);
  try {
    const { store, config, keyFolder } = await openStore(given, options.store, { report, opened });
    const cluster = clusterNode(config, { store, report, uniqueId: options.uniqueId ?? systemId });
    opened.push(cluster);
    const telemetry = await startTelemetry(config.otel, telemetryPorts(config, { store, report, cluster }));
    opened.push(telemetry);
    const crashes = crashRecord(config, options, { report, expiring: store.expiring, owner: cluster.node });
    if (crashes !== null) opened.push(crashes);
    const { services, workflows, redefine } = await createServices(config, {
      telemetry,
      report,
      crashes,
      cluster,
      extension: await extensionOf(config),
      folder: keyFolder,
      ...app,
      workflows: found,
      allowUnsignedPacks,
      dev,
      clock: options.clock,
      uniqueId: options.uniqueId,
    });
    const { engine } = services;
    opened.push(services.tools);
    await services.tools.open();
    opened.push(engine);
    if (onRun !== undefined) opened.push({ close: followRuns(store.log, onRun) });
    const tenants = tenantsOf(config);
    await registerWorkflows(engine, tenants, workflows);
    await crashes?.ready;
    await engine.open();
    telemetry.readiness.engineOpened();
    const serving = http ? await serve(config, services) : null;
    if (serving !== null) opened.push({ close: () => serving.http.close(CLOSE_WITHIN_MS) });
    const usage = cluster.exchange([
      engine.shares,
      services.tools.calls,
      ...(serving === null ? [] : [serving.limits]),
    ]);
    opened.push(usage);
    await usage.open();
    opened.push({ close: telemetry.readiness.stopping });
    opened.push({ close: startExpiry(expiryPorts(services)) });
    opened.push(services.purger);
    const sweeping = cluster.job('retention', async () => ({
      close: startRetention(config.retention, retentionPorts(services)),
    }));
    opened.push(sweeping);
    await sweeping.open();
    const host = hostOf(engine, serving, () => closeAll(opened));
    return { ...host, redefine: redefineHost({ engine, redefine, tenants, app }) };
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

interface Closable {
  close(): void | Promise<void>;
}

function watchingRejections({ onRejection }: StartOptions, report: Report): Closable[] {
  const stray = (error: unknown) => report({ level: 'error', event: 'process.rejection', error });
  return onRejection === undefined ? [] : [{ close: onRejection(stray) }];
}

/** Closes in reverse order of opening. */
async function closeAll(opened: Closable[]): Promise<void> {
  for (const part of opened.splice(0).reverse()) await part.close();
}

/**
 * The only code that reads the switch `conformance`. The extension adds nodes, prompts and routes for black-box suites;
 * where a part of the host itself behaves otherwise under test, it asks the extension (`isUnderTest`).
 */
async function extensionOf(config: HostConfig): Promise<HostExtension> {
  if (!config.conformance) return noExtension;
  const { conformance } = await import('../conformance/conformance.ts');
  return conformance;
}

const foundWorkflows = async (config: HostConfig, given: App['workflows']): Promise<readonly FoundWorkflow[]> => [
  ...(await readWorkflowFolders(config.workflows)),
  ...ofCode(given),
];

const appIn = ({ steps, agents, tools, prompts, workflows }: StartOptions): App =>
  defineApp({
    steps: steps ?? [],
    agents: agents ?? [],
    tools: tools ?? [],
    prompts: prompts ?? [],
    workflows: workflows ?? [],
  });

/** Whether the data folder holds the database. Otherwise several nodes may have the same folder, or none. */
const isOnFolder = (config: HostConfig, { store }: StartOptions): boolean =>
  store === undefined && config.store === undefined;

function crashRecord(
  config: HostConfig,
  options: StartOptions,
  { report, ...node }: Pick<SharedCrashRecordPorts, 'expiring' | 'owner'> & { readonly report: Report },
): OpenCrashRecord | null {
  const failed = (error: unknown) => report({ level: 'warn', event: 'crash.record_failed', error });
  if (options.store === undefined && config.store !== undefined) {
    const { nextTurn } = systemEventLoop;
    return new SharedCrashRecord({ ...node, url: config.store.reveal(), now: systemClock.now, nextTurn, failed });
  }
  const folder = isOnFolder(config, options) ? config.data : (options.storeFolder ?? null);
  return folder === null ? null : openCrashRecord(folder, { eventLoop: systemEventLoop, failed });
}

/** The name of the node is new at each start, so that a restarted process never takes itself for the one before. */
const clusterNode = (
  { hostId, leaseMs }: IdentifiedConfig,
  { store, report, uniqueId }: { readonly store: Store; readonly report: Report; readonly uniqueId: UniqueId },
): ClusterNode =>
  new ClusterNode({
    cluster: store.cluster,
    node: `${hostId}/${uniqueId()}`,
    leaseMs,
    now: systemClock.now,
    timers: systemTimers,
    report,
  });

const telemetryPorts = (
  { hostId }: IdentifiedConfig,
  { cluster, ...world }: Pick<TelemetryPorts, 'store' | 'report'> & { readonly cluster: ClusterNode },
): TelemetryPorts => ({
  ...world,
  onOneNode: (name, start) => cluster.job(name, start),
  timers: systemTimers,
  now: systemClock.now,
  ...systemEventLoop,
  sampleEventLoop,
  randomHex: randomHexSupply(),
  host: { hostId, version: hostVersion() },
});

function refuseWithoutCallers({ keys, jwt }: HostConfig): void {
  if (keys.length > 0 || jwt !== undefined) return;
  throw new TerminalError('config_invalid', {
    message: 'The configuration has no keys and no jwt: nobody could call this host.',
    hint: 'Add "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "…" }], or run "cairn dev", which makes one.',
  });
}

function reportUnusedKeys({ unused }: HostConfig, report: Report): void {
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

const retentionPorts = ({ store, report, purger, telemetry }: HostServices): SweepPorts => ({
  store,
  report,
  purger,
  recorder: telemetry.recorder,
  timers: systemTimers,
  now: systemClock.now,
});

const expiryPorts = ({ store, report }: HostServices): ExpiryPorts => ({
  idempotency: store.idempotency,
  report,
  timers: systemTimers,
  now: systemClock.now,
});
