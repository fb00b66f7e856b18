/** The HTTP surface: every route of the host in one table, served until it is closed. */
import type { Discovery } from '@cairn/protocol';
import type { AgentRegistry } from '../../agents/registry.ts';
import { conversationSeamRoutes } from '../../conformance/conversation-seams.ts';
import { testSeamRoutes } from '../../conformance/test-seams.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Redactor, Report, Timers, UniqueId } from '../../engine/ports.ts';
import { createLoadView } from '../../engine/stepping/run-view.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Gate } from '../access/gate.ts';
import { agentRoutes } from '../catalogue/agents.ts';
import { CalibrationReader, calibrationRoutes } from '../catalogue/calibration.ts';
import { discoveryRoutes } from '../catalogue/discovery.ts';
import type { HostModels } from '../catalogue/models.ts';
import { type OfferedTools, toolRoutes } from '../catalogue/tools.ts';
import { workflowRoutes } from '../catalogue/workflows.ts';
import type { Egress } from '../egress/egress.ts';
import { Idempotency } from '../idempotency/idempotency.ts';
import { once } from '../idempotency/idempotent-routes.ts';
import { InboxFeed } from '../inbox/inbox-feed.ts';
import { createInterruptTokens } from '../inbox/interrupt-tokens.ts';
import { type InterruptSurface, interruptRoutes } from '../inbox/interrupts.ts';
import { type InboxSurface, inboxRoutes } from '../inbox/routes.ts';
import { tokenInterruptRoutes } from '../inbox/token-interrupts.ts';
import { debugBundleRoutes } from '../runs/debug-bundle.ts';
import { runControlRoutes } from '../runs/run-control.ts';
import { runRoutes } from '../runs/runs.ts';
import type { DeriveKeys } from '../secrets/host-secret.ts';
import { sealerOf } from '../secrets/sealed.ts';
import { CommitWaiters } from '../streams/commit-waiters.ts';
import { EventStreams } from '../streams/event-streams.ts';
import { eventRoutes } from '../streams/events.ts';
import { pollRoutes } from '../streams/poll.ts';
import { SnapshotFeed } from '../streams/snapshot-feed.ts';
import { webhookRoutes } from '../webhooks/routes.ts';
import { Webhooks } from '../webhooks/webhooks.ts';
import { apiDescriptionRoutes } from './api-description.ts';
import { createApp } from './app.ts';
import { createPageCursors } from './page-cursors.ts';
import type { Route } from './routes.ts';
import { watchSilent } from './silent-connections.ts';

export interface ServerDeps {
  readonly engine: Engine;
  readonly store: Store;
  readonly telemetry: Pick<Telemetry, 'watch' | 'routes'>;
  readonly feed: LiveFeed;
  readonly gate: Gate;
  readonly discovery: Discovery;
  readonly registry: AgentRegistry;
  readonly tools: OfferedTools;
  readonly models: HostModels;
  /** Serve what black-box suites look for. */
  readonly conformance: boolean;
  readonly maxRequestBodyBytes: number;
  readonly hostId: string;
  /** Of this program. */
  readonly version: string;
  readonly timers: Timers;
  readonly now: () => number;
  readonly uniqueId: UniqueId;
  readonly report: Report;
  readonly redactor: Redactor | null;
  readonly deriveKeys: DeriveKeys;
  readonly egress: Egress;
  /** Where others reach the host, without a slash at the end; asked only once it serves. */
  readonly baseUrl: () => string;
}

export interface Server {
  /** Everything that is served. */
  readonly routes: readonly Route[];
  /** Starts to serve; gives the port, which matters when 0 was asked for. */
  listen(port: number, bind: string): Promise<number>;
  /** Streams and long polls that are open. */
  readonly open: { readonly streams: number; readonly polls: number };
  /** Stops accepting, ends streams and polls, lets requests finish; cuts what is left after the time given. */
  close(withinMs: number): Promise<void>;
}

export function createServer(deps: ServerDeps): Server {
  const loadView = createLoadView(deps.store);
  const snapshots = new SnapshotFeed(deps.store.log, loadView);
  const streams = new EventStreams({ ...deps, snapshots });
  const waiters = new CommitWaiters(deps.store.log, deps.timers);
  const { engine, store, now, baseUrl, egress, redactor } = deps;
  const tokens = createInterruptTokens(deps.deriveKeys('interrupt-token'));
  const cursors = createPageCursors(deps.deriveKeys('list-cursor'));
  const interrupts = { engine, log: store.log, loadView, tokens, now, baseUrl, cursors };
  const inbox = new InboxFeed({ log: store.log, cursors, timers: deps.timers });
  const webhooks = new Webhooks({ ...deps, interrupts, tokens });
  const bundles = { engine, log: store.log, version: deps.version, now, isRedacted: redactor !== null };
  const runsAgents = deps.discovery.agents?.liveRuntime?.supported === true;
  const models = { ...deps.models, allowsMocks: deps.conformance };
  const routes: readonly Route[] = [
    ...runRoutes({ engine, log: store.log, hostId: deps.hostId, egress, webhooks, cursors, runsAgents, models }),
    ...runControlRoutes(engine),
    ...eventRoutes({ log: store.log, streams, report: deps.report }),
    ...pollRoutes({ log: store.log, waiters }),
    ...questionRoutes(interrupts, { log: store.log, cursors, streams, feed: inbox }),
    ...webhookRoutes({ webhooks, egress, redactor }),
    ...debugBundleRoutes(bundles),
    ...(deps.conformance ? [...testSeamRoutes(bundles), ...conversationSeamRoutes(engine)] : []),
    ...catalogueRoutes(deps),
    ...deps.gate.routes,
    ...deps.telemetry.routes(() => ({ streams: streams.size, polls: waiters.size })),
    ...discoveryRoutes(deps.discovery),
    ...apiDescriptionRoutes(() => routes),
  ];
  const requests = new Idempotency({ ...deps, records: store.records });
  const sealer = sealerOf(deps.deriveKeys('idempotent-answer'), 'answer');
  const served = routes.map((route) => once(route, requests, sealer));
  const app = createApp({ ...deps, watch: deps.telemetry.watch }, served);
  const closeSilent = watchSilent(app.server);
  return {
    routes,
    get open() {
      return { streams: streams.size, polls: waiters.size };
    },
    async listen(port, bind) {
      await webhooks.open();
      try {
        await app.listen({ port, host: bind });
      } catch (error) {
        await webhooks.close();
        throw error;
      }
      const address = app.server.address();
      return typeof address === 'object' && address !== null ? address.port : port;
    },
    async close(withinMs) {
      deps.gate.drain();
      // Connections are kept for no further request: those that fall idle from now on end at once.
      app.server.keepAliveTimeout = 1;
      app.server.keepAliveTimeoutBuffer = 0;
      const cut = deps.timers.after(withinMs, () => app.server.closeAllConnections());
      const closed = app.close();
      closeSilent();
      for (const held of [streams, inbox, waiters]) held.close();
      await closed;
      await webhooks.close();
      cut();
    },
  };
}

/** What waits for somebody, and how it is answered. */
const questionRoutes = (interrupts: InterruptSurface, inbox: InboxSurface): readonly Route[] => [
  ...interruptRoutes(interrupts),
  ...tokenInterruptRoutes(interrupts),
  ...inboxRoutes(inbox),
];

/** What can be run, by whom and with what, and how well it went. */
const catalogueRoutes = ({ engine, store, registry, tools }: ServerDeps): readonly Route[] => [
  ...agentRoutes(registry),
  ...toolRoutes(tools),
  ...calibrationRoutes(new CalibrationReader(store.log)),
  ...workflowRoutes({ engine, records: store.records }),
];
