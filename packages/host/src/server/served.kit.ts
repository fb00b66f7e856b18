/** A real server on a free loopback port over the in-memory store, with timers that the test controls; not shipped. */
import { hash, randomUUIDv7 } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { createAgentSource } from '../agents/agent-source.ts';
import type { DefinedAgent } from '../agents/define-agent.ts';
import type { TrustPolicy } from '../agents/packs/signature.ts';
import { PromptRegistry } from '../agents/prompts/prompt-registry.ts';
import { AgentRegistry } from '../agents/registry.ts';
import { defineTool } from '../agents/tools/define-tool.ts';
import type { Tool } from '../agents/tools/tool.ts';
import { ToolRegistry } from '../agents/tools/tool-registry.ts';
import { conformance } from '../conformance/conformance.ts';
import type { Engine } from '../engine/engine.ts';
import type { OperatorNotice, Performer, Redactor, Report, Step, Timers } from '../engine/ports.ts';
import { createEngine } from '../engine/stepping/runtime.ts';
import type { NodeType } from '../engine/workflow/node-type.ts';
import { emptyStore } from '../log/empty-store.kit.ts';
import { LiveFeed } from '../log/feed/feed.ts';
import type { Store } from '../log/ports/store.ts';
import { startTelemetry } from '../telemetry/telemetry.ts';
import { addressMatcher } from './access/addresses.ts';
import { type AccessKey, keyHash, type Scope, scopes } from './access/auth.ts';
import { createGate } from './access/gate.ts';
import type { ShareLimits } from './access/limit-routes.ts';
import type { AccessLimits } from './access/limits.ts';
import { createEditPerformer, editNode } from './artifacts/edit-run.ts';
import { forkedArtifacts } from './artifacts/forked-artifacts.ts';
import { type Ask, askUrl, type Reply } from './ask.kit.ts';
import type { AgentFacts } from './catalogue/agent-discovery.ts';
import { CallLimit } from './catalogue/call-limit.ts';
import { discoveryDocument } from './catalogue/discovery.ts';
import { hostModels } from './catalogue/models.ts';
import { nodeOf } from './cluster/cluster.kit.ts';
import { laterTurns, randomHexSupply, sampleEventLoop, systemClock, systemEventLoop, systemTimers } from './compose.ts';
import type { JwtConfig } from './config/access.ts';
import { type ConfigInput, parseConfig } from './config/config.ts';
import { createEgress } from './egress/egress.ts';
import { publicDns } from './egress/public-dns.ts';
import { noExtension } from './host-extension.ts';
import type { ConnectionLimits } from './http/connection-limits.ts';
import { createServer, type Server } from './http/http.ts';
import { safetyHeaders } from './http/http-server.ts';
import type { Route } from './http/routes.ts';
import type { UnreadLimits } from './http/unread-bytes.ts';
import { ManualTimers } from './manual-timers.kit.ts';
import { TreePurger } from './retention/purger.ts';
import { type DeriveKeys, hostSecret } from './secrets/host-secret.ts';
import { SignIns } from './sign-ins/sign-ins.ts';

export const keys = { alice: 'key-of-alice-0001', auditor: 'key-of-auditor-02', stranger: 'key-of-stranger-3' };

/** A key of tenant `t` with exactly these scopes. The server knows one for each list of at most one scope. */
export const keyWith = (...held: readonly Scope[]): string => `key-with-only-${held.join('+')}`;

const accessKeys: readonly AccessKey[] = [
  { sha256: keyHash(keys.alice), tenant: 't', principal: 'alice' },
  { sha256: keyHash(keys.auditor), tenant: 't', principal: 'auditor', scopes, toolScopes: ['tool:refunds'] },
  { sha256: keyHash(keys.stranger), tenant: 'other', scopes },
  { sha256: keyHash(keyWith()), tenant: 't', scopes: [] },
  ...scopes.map((scope) => ({ sha256: keyHash(keyWith(scope)), tenant: 't', scopes: [scope] })),
];

const MAX_TENANT_BYTES = 1_000_000_000;

/** An origin that test webhooks may name. */
export const nobodyListens = 'http://127.0.0.1:9';

const sampleTool = (id: string, needs: readonly string[]): Tool =>
  defineTool({
    id,
    description: 'A tool of the tests.',
    input: z.object({ what: z.string() }),
    needs,
    run: () => null,
  });

/** Tools of the server: one for every tenant, one for `t` only, one that requires a scope. */
export const openTool = sampleTool('acme:look', []);
export const ownTool = sampleTool('acme.t:look', []);
export const scopedTool = sampleTool('acme:refund', ['tool:refunds']);

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly engine: Engine;
  readonly server: Server;
  readonly registry: AgentRegistry;
  readonly timers: ManualTimers;
  readonly reports: OperatorNotice[];
  /** Uses the key of alice by default. */
  ask(method: Route['method'] | 'HEAD', path: string, ask?: Ask): Promise<Reply>;
  stop(): Promise<void>;
}

export interface ServedOptions {
  readonly store?: Store;
  readonly engine?: (engine: Engine) => Engine;
  readonly maxRequestBodyBytes?: number;
  readonly publicUrl?: string;
  /** The built files of Studio. Default: none. */
  readonly studioFolder?: string;
  /** The built pages of the documentation. Default: none. */
  readonly docsFolder?: string;
  readonly conformance?: boolean;
  /** The model part of a configuration. */
  readonly models?: Pick<ConfigInput, 'models' | 'credentials' | 'secrets'>;
  readonly defaultAgent?: string;
  readonly jwt?: JwtConfig;
  readonly corsOrigins?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly connections?: Partial<Pick<ConnectionLimits, 'maxConnections' | 'maxConnectionsPerAddress'>>;
  readonly limits?: Partial<AccessLimits & UnreadLimits & ShareLimits>;
  /** Replaces the manual timers. */
  readonly timers?: Timers;
  /** The clock of the gate. */
  readonly now?: () => number;
  /** Origins that webhooks may name besides `nobodyListens`. */
  readonly egressAllow?: readonly string[];
  readonly redactor?: Redactor;
  /** The keys of the host. Default: fresh ones. */
  readonly deriveKeys?: DeriveKeys;
  readonly steps?: readonly Step[];
  /** The trust policy for packs. Default: accept all packs. */
  readonly packs?: Partial<TrustPolicy>;
  /** The agent runtime. Default: none. */
  readonly agents?: {
    readonly facts: AgentFacts;
    readonly nodeTypes: readonly NodeType[];
    readonly performers: readonly Performer[];
    readonly own?: readonly DefinedAgent[];
  };
}

export async function served(options: ServedOptions = {}): Promise<Served> {
  const opened = options.store ?? (await emptyStore());
  const timers = new ManualTimers();
  const reports: OperatorNotice[] = [];
  const report: Report = (notice) => void reports.push(notice);
  const uniqueId = () => randomUUIDv7();
  const host = { hostId: 'test', version: '1.2.3' };
  const world = {
    store: opened,
    report,
    timers: systemTimers,
    now: Date.now,
    ...systemEventLoop,
    sampleEventLoop,
    randomHex: randomHexSupply(),
    host,
    onOneNode: () => ({ open: async () => undefined, close: async () => undefined }),
  };
  const telemetry = await startTelemetry(undefined, world);
  const store = { ...telemetry.store, artifacts: forkedArtifacts(telemetry.store) };
  const limits = {
    maxNodeExecutions: 100,
    clarificationRounds: 10,
    maxRequestBodyBytes: options.maxRequestBodyBytes ?? 65_536,
    maxRequestsInFlightPerKey: 1000,
    maxOpenStreamsPerKey: 1000,
    maxOpenStreamsPerTenant: 1000,
    maxActiveRunsPerTenant: 1000,
    maxStartsPerSecondPerTenant: 1000,
    maxOpenCallsPerTenant: 1000,
    maxFailedAuthPerMinute: 1000,
    maxUnreadBytesPerTenant: 33_554_432,
    maxUnreadBytes: 268_435_456,
    ...options.limits,
  };
  const discovery = discoveryDocument({
    version: '1.2.3',
    hostId: 'test',
    limits,
    exportsTelemetry: false,
    agents: options.agents?.facts ?? null,
    fixtures: null,
  });
  const policy = { trust: [], allowUnsigned: true, ...options.packs };
  const redactor = options.redactor ?? null;
  const deriveKeys = options.deriveKeys ?? hostSecret({ folder: null });
  const registry = new AgentRegistry({
    definitions: store.definitions,
    packs: store.packs,
    now: Date.now,
    policy,
    discovery,
    redactor,
  });
  await registry.defineOwn(options.agents?.own ?? [], '1.2.3');
  const edits = createEditPerformer({ store, now: Date.now, life: uniqueId(), maxTenantBytes: MAX_TENANT_BYTES });
  const cluster = nodeOf(store, report);
  const real = createEngine({
    store,
    clock: systemClock,
    uniqueId,
    sha256: (text, encoding) => hash('sha256', text, encoding),
    owner: cluster.node,
    steps: options.steps ?? [],
    nodeTypes: [...(options.agents?.nodeTypes ?? []), editNode],
    performers: [...(options.agents?.performers ?? []), edits],
    agents: createAgentSource(registry, store.definitions),
    redactor,
    limits: { ...limits, maxRunDurationMs: null },
    report,
  });
  await real.open();
  telemetry.readiness.engineOpened();
  const engine = options.engine?.(real) ?? real;
  const server = createServer(
    {
      engine,
      store,
      telemetry,
      feed: new LiveFeed(store),
      gate: createGate(
        {
          bind: '127.0.0.1',
          publicUrl: options.publicUrl,
          keys: accessKeys,
          jwt: options.jwt,
          cors: { origins: [...(options.corsOrigins ?? [])] },
          limits,
        },
        {
          now: options.now ?? Date.now,
          timers: systemTimers,
          report,
          redactor,
          sessionKeys: deriveKeys('session'),
          readTokenKeys: deriveKeys('read-token'),
          expiring: store.expiring,
          cluster,
        },
      ),
      clusterNode: cluster,
      discovery,
      registry,
      tools: {
        registry: new ToolRegistry([openTool, ownTool, scopedTool]),
        policy: { allow: ['acme:*'], tenants: { t: ['acme:*', 'acme.t:*'] } },
        calls: new CallLimit(undefined, systemClock.now),
        listed: async () => undefined,
        open: async () => undefined,
        close: async () => undefined,
      },
      prompts: new PromptRegistry([]),
      models: hostModels(parseConfig(options.models ?? {}, 'test'), systemClock),
      signIns: new SignIns({
        credentials: store.credentials,
        keys: deriveKeys('credentials'),
        services: {
          forge: {
            kind: 'oauth2',
            authorizationEndpoint: `${nobodyListens}/authorize`,
            tokenEndpoint: `${nobodyListens}/token`,
            clientId: 'cairn',
            scopes: [],
          },
        },
        now: Date.now,
        secret: () => undefined,
        egress: createEgress({ allow: [], resolve: publicDns, timers: systemTimers }),
        baseUrl: () => null,
      }),
      extension: options.conformance ? conformance : noExtension,
      purger: new TreePurger({
        ...store,
        removeFiles: async () => {},
        timers: systemTimers,
        now: Date.now,
        recorder: telemetry.recorder,
      }),
      timers: options.timers ?? timers,
      now: options.now ?? Date.now,
      uniqueId,
      report,
      redactor,
      deriveKeys,
      digestKeys: [''],
      egress: createEgress({
        allow: [nobodyListens, ...(options.egressAllow ?? [])],
        resolve: async () => [],
        timers: systemTimers,
      }),
      peers: [{ hostId: 'beta', url: nobodyListens, answersForUsers: false, hasKey: false, calls: [] }],
      peerEgress: createEgress({ allow: [nobodyListens], resolve: async () => [], timers: systemTimers }),
      baseUrl: () => options.publicUrl ?? url,
    },
    {
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
      maxTenantBytes: MAX_TENANT_BYTES,
      retention: [],
      conversations: { defaultAgent: options.defaultAgent, maxQueuedMessages: 20, clientToolTimeoutMs: 60_000 },
      a2aVersions: ['1.0', '0.3'],
      unread: limits,
      shares: limits,
      ...host,
      studioFolder: options.studioFolder ?? '/nowhere',
      docsFolder: options.docsFolder ?? '/nowhere',
      httpServer: {
        connections: {
          maxConnections: 10_000,
          maxConnectionsPerAddress: 10_000,
          ...options.connections,
          isTrustedProxy: addressMatcher(options.trustedProxies ?? []),
        },
        hasProxies: options.trustedProxies !== undefined,
        laterTurns,
        headers: safetyHeaders(options.publicUrl),
      },
    },
  );
  const port = await server.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  let stopped: Promise<void> | null = null;
  const stop = async () => {
    await server.close(1_000);
    await real.close();
    await telemetry.close();
    await store.close();
  };
  const stopOnce = () => {
    stopped ??= stop();
    return stopped;
  };
  onTestFinished(stopOnce);
  return {
    url,
    port,
    store,
    engine,
    server,
    registry,
    timers,
    reports,
    stop: stopOnce,
    ask: (method, path, { key = keys.alice, ...ask } = {}) => askUrl(`${url}${path}`, method, { ...ask, key }),
  };
}
