/** The HTTP surface: every route of the host in one table, served until it is closed. */
import type { Timers, UniqueId } from '../../engine/ports.ts';
import { createLoadView } from '../../engine/stepping/run-view.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import type { Gate } from '../access/gate.ts';
import { agentRoutes } from '../catalogue/agents.ts';
import { CalibrationReader, calibrationRoutes } from '../catalogue/calibration.ts';
import { discoveryRoutes } from '../catalogue/discovery.ts';
import { nodeTypeRoutes } from '../catalogue/node-types.ts';
import { toolRoutes } from '../catalogue/tools.ts';
import { workflowRoutes } from '../catalogue/workflows.ts';
import type { Egress } from '../egress/egress.ts';
import type { HostServices } from '../host-services.ts';
import { Idempotency } from '../idempotency/idempotency.ts';
import { idempotent } from '../idempotency/idempotent-routes.ts';
import { InboxFeed } from '../inbox/inbox-feed.ts';
import { createInterruptTokens } from '../inbox/interrupt-tokens.ts';
import { type InterruptSurface, interruptRoutes } from '../inbox/interrupts.ts';
import { type InboxSurface, inboxRoutes } from '../inbox/routes.ts';
import { tokenInterruptRoutes } from '../inbox/token-interrupts.ts';
import { type BundlePorts, bundleText, debugBundleRoutes } from '../runs/debug-bundle.ts';
import { runControlRoutes } from '../runs/run-control.ts';
import { runRoutes } from '../runs/runs.ts';
import { sealerOf } from '../secrets/sealed.ts';
import { EventStreams } from '../streams/event-streams.ts';
import { eventRoutes } from '../streams/events.ts';
import { pollRoutes } from '../streams/poll.ts';
import { PollFeed } from '../streams/poll-feed.ts';
import { SnapshotFeed } from '../streams/snapshot-feed.ts';
import { webhookRoutes } from '../webhooks/routes.ts';
import { Webhooks } from '../webhooks/webhooks.ts';
import { apiDescriptionRoutes } from './api-description.ts';
import { createApp } from './app.ts';
import { createPageCursors } from './page-cursors.ts';
import { runNamed } from './params.ts';
import type { Route } from './routes.ts';
import { watchSilent } from './silent-connections.ts';

/** The services of the host, and how the surface reaches the world. */
export interface ServerPorts extends HostServices {
  readonly feed: LiveFeed;
  readonly gate: Gate;
  readonly timers: Timers;
  readonly now: () => number;
  readonly uniqueId: UniqueId;
  readonly egress: Egress;
  /** Where others reach the host, without a slash at the end; asked only once it serves. */
  readonly baseUrl: () => string;
}

export interface ServerOptions {
  readonly maxRequestBodyBytes: number;
  readonly hostId: string;
  /** Of this program. */
  readonly version: string;
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

export function createServer(ports: ServerPorts, options: ServerOptions): Server {
  const { store, gate, telemetry, timers } = ports;
  const { routes, webhooks, streams, polls, inbox } = surfaceOf(ports, options);
  const requests = new Idempotency({ ...ports, idempotency: store.idempotency });
  const sealer = sealerOf(ports.deriveKeys('idempotent-answer'), 'answer');
  const served = routes.map((route) => idempotent(route, requests, sealer));
  const app = createApp({ ...ports, ...options, watch: telemetry.watch }, served);
  const closeSilent = watchSilent(app.server);
  return {
    routes,
    get open() {
      return { streams: streams.size, polls: polls.size };
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
      gate.drain();
      // Connections are kept for no further request: those that fall idle from now on end at once.
      app.server.keepAliveTimeout = 1;
      app.server.keepAliveTimeoutBuffer = 0;
      const cut = timers.after(withinMs, () => app.server.closeAllConnections());
      const closed = app.close();
      closeSilent();
      for (const held of [streams, inbox, polls]) held.close();
      await closed;
      await webhooks.close();
      cut();
    },
  };
}

/** Every route, and what it holds open. */
function surfaceOf(ports: ServerPorts, { hostId, version }: ServerOptions) {
  const { engine, store, discovery, now, baseUrl, egress, redactor, timers } = ports;
  const { log, runIndex } = store;
  const loadView = createLoadView(store);
  const snapshots = new SnapshotFeed(log, loadView);
  const streams = new EventStreams({ ...ports, snapshots });
  const polls = new PollFeed(log);
  const tokens = createInterruptTokens(ports.deriveKeys('interrupt-token'));
  const cursors = createPageCursors(ports.deriveKeys('list-cursor'));
  const interrupts = { engine, log, runIndex, loadView, tokens, now, baseUrl, cursors };
  const inbox = new InboxFeed({ log, runIndex, cursors, timers });
  const webhooks = new Webhooks({ ...ports, version, interrupts, tokens });
  const bundles = { engine, log, version, now, isRedacted: redactor !== null };
  const runsAgents = discovery.agents?.liveRuntime?.supported === true;
  const models = { ...ports.models, allowsMocks: ports.extension.isUnderTest };
  const routes: readonly Route[] = [
    ...runRoutes({ engine, log, runIndex, hostId, egress, webhooks, cursors, runsAgents, models }),
    ...runControlRoutes(engine),
    ...eventRoutes({ log, streams, report: ports.report }),
    ...pollRoutes({ log, polls, timers }),
    ...questionRoutes(interrupts, { log, runIndex, cursors, streams, feed: inbox }),
    ...webhookRoutes({ webhooks, egress, redactor }),
    ...debugBundleRoutes(bundles),
    ...extensionRoutes(ports, bundles),
    ...catalogueRoutes(ports),
    ...ports.gate.routes,
    ...ports.telemetry.routes(() => ({ streams: streams.size, polls: polls.size })),
    ...discoveryRoutes(discovery),
    ...apiDescriptionRoutes(() => routes),
  ];
  return { routes, webhooks, streams, polls, inbox };
}

/** What waits for somebody, and how it is answered. */
const questionRoutes = (interrupts: InterruptSurface, inbox: InboxSurface): readonly Route[] => [
  ...interruptRoutes(interrupts),
  ...tokenInterruptRoutes(interrupts),
  ...inboxRoutes(inbox),
];

/** What can be run, by whom and with what, and how well it went. */
const catalogueRoutes = ({ engine, store, registry, tools }: ServerPorts): readonly Route[] => [
  ...agentRoutes(registry),
  ...toolRoutes(tools),
  ...calibrationRoutes(new CalibrationReader(store.log)),
  ...workflowRoutes({ engine, definitions: store.definitions }),
  ...nodeTypeRoutes(engine),
];

const extensionRoutes = ({ engine, store, now, extension }: ServerPorts, bundles: BundlePorts): readonly Route[] =>
  extension.routes({
    engine,
    log: store.log,
    now,
    findRun: (runId, caller) => runNamed(runId, caller, store.log),
    debugBundle: (head, caller) => bundleText(head, caller, bundles),
  });
