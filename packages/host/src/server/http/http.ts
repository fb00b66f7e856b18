/** The HTTP surface: all routes of the host in one table, served until it closes. */

import { createLoadView } from '../../engine/loading/run-view.ts';
import type { Timers, UniqueId } from '../../engine/ports.ts';
import { LongWork } from '../../engine/shares/long-work.ts';
import { FairTurns } from '../../fair-turns.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import { createA2a, withA2a } from '../a2a/create-a2a.ts';
import type { A2aVersion } from '../a2a/versions.ts';
import type { Gate } from '../access/gate.ts';
import { limitRoutes, type ShareLimits, tenantFigures } from '../access/limit-routes.ts';
import { readTokenRoutes } from '../access/read-token-routes.ts';
import { aguiRoutes } from '../agui/routes.ts';
import { RunStreams } from '../agui/run-streams.ts';
import { ChatStreams } from '../ai-sdk/chat-streams.ts';
import { aiSdkRoutes } from '../ai-sdk/routes.ts';
import { artifactOverviewRoute } from '../artifacts/overview.ts';
import { artifactRoutes } from '../artifacts/routes.ts';
import { runArtifactRoute } from '../artifacts/run-artifact.ts';
import { saveRoute } from '../artifacts/save-route.ts';
import { agentRoutes } from '../catalogue/agents.ts';
import { CalibrationReader, calibrationRoutes } from '../catalogue/calibration.ts';
import { discoveryRoutes } from '../catalogue/discovery.ts';
import { nodeTypeRoutes } from '../catalogue/node-types.ts';
import { toolRoutes } from '../catalogue/tools.ts';
import { WorkflowFaces } from '../catalogue/workflow-faces.ts';
import { workflowRoutes } from '../catalogue/workflows.ts';
import { ContextAgents } from '../contexts/context-agents.ts';
import { ContextStreams } from '../contexts/context-stream.ts';
import { MessageInputs } from '../contexts/message-inputs.ts';
import { contextRoutes } from '../contexts/routes.ts';
import { ContextTurns } from '../contexts/turns.ts';
import { type RunDiffPorts, runDiffRoutes } from '../diff/run-diff.ts';
import type { Egress } from '../egress/egress.ts';
import type { HostServices } from '../host-services.ts';
import { Idempotency } from '../idempotency/idempotency.ts';
import { idempotent } from '../idempotency/idempotent-routes.ts';
import { InboxFeed } from '../inbox/inbox-feed.ts';
import { createInterruptTokens } from '../inbox/interrupt-tokens.ts';
import { type InterruptSurface, interruptRoutes } from '../inbox/interrupts.ts';
import { type InboxSurface, inboxRoutes } from '../inbox/routes.ts';
import { tokenInterruptRoutes } from '../inbox/token-interrupts.ts';
import { createMcp, withMcp } from '../mcp/create-mcp.ts';
import { apiDescriptionRoutes } from '../openapi/api-description.ts';
import { type AncestryPorts, ancestryRoutes } from '../peers/ancestry.ts';
import { causesRoutes } from '../peers/causes.ts';
import { type KnownPeer, type PeerRoutePorts, peerRoutes } from '../peers/peer-routes.ts';
import { followPurges } from '../retention/purge-notices.ts';
import { retentionRoutes } from '../retention/routes.ts';
import type { RetentionRule } from '../retention/rules.ts';
import { chainCheckRoutes } from '../runs/chain-check.ts';
import { type BundlePorts, bundleText, debugBundleRoutes } from '../runs/debug-bundle.ts';
import { type ForkPorts, forkRoutes } from '../runs/fork-run.ts';
import { OpenSnapshots } from '../runs/open-snapshots.ts';
import { PastRuns } from '../runs/past-runs.ts';
import { runControlRoutes } from '../runs/run-control.ts';
import { runRoutes } from '../runs/runs.ts';
import { sealerOf } from '../secrets/sealed.ts';
import { signInRoutes } from '../sign-ins/routes.ts';
import { EventStreams } from '../streams/event-streams.ts';
import { eventRoutes } from '../streams/events.ts';
import { pollRoutes } from '../streams/poll.ts';
import { PollFeed } from '../streams/poll-feed.ts';
import { SnapshotFeed } from '../streams/snapshot-feed.ts';
import { webhookRoutes } from '../webhooks/routes.ts';
import { Webhooks } from '../webhooks/webhooks.ts';
import { createApp } from './app.ts';
import type { HttpServerOptions } from './http-server.ts';
import { openedInTurns } from './openings.ts';
import { createPageCursors } from './page-cursors.ts';
import { runNamed } from './params.ts';
import type { Route } from './routes.ts';
import { watchSilent } from './silent-connections.ts';
import { UnreadBytes, type UnreadLimits } from './unread-bytes.ts';

/** The services of the host, and the ports of the HTTP surface. */
export interface ServerPorts extends Omit<HostServices, 'address'> {
  readonly feed: LiveFeed;
  readonly gate: Gate;
  readonly timers: Timers;
  readonly now: () => number;
  readonly uniqueId: UniqueId;
  readonly egress: Egress;
  /** The other hosts of the configuration, and what reaches them. */
  readonly peers: readonly KnownPeer[];
  readonly peerEgress: Egress;
  /** The external URL of the host, without a trailing slash. Call it only after the host listens. */
  readonly baseUrl: () => string;
}

/** Characters of large documents rendered or written in one turn of the event loop: about 2 ms. */
const TURN_BYTES = 262_144;

export interface ConversationOptions {
  /** The agent for messages that name none, in a context where none has answered. */
  readonly defaultAgent: string | undefined;
  readonly maxQueuedMessages: number;
  /** How long the call of a client's tool waits for its result. */
  readonly clientToolTimeoutMs: number;
}

export interface ServerOptions {
  readonly maxRequestBodyBytes: number;
  /** Of all events and artifacts of a tenant. */
  readonly maxTenantBytes: number;
  readonly unread: UnreadLimits;
  readonly shares: ShareLimits;
  readonly retention: readonly RetentionRule[];
  readonly conversations: ConversationOptions;
  /** The versions of A2A that are served. Empty: none is. */
  readonly a2aVersions: readonly A2aVersion[];
  readonly hostId: string;
  /** Version of this program. */
  readonly version: string;
  readonly httpServer: HttpServerOptions;
  /** The built files of Studio. */
  readonly studioFolder: string;
  /** The built pages of the documentation. */
  readonly docsFolder: string;
}

export interface Server {
  /** All served routes. */
  readonly routes: readonly Route[];
  /** Starts to listen. Returns the port, which is useful when 0 was requested. */
  listen(port: number, bind: string): Promise<number>;
  /** The number of open streams and long polls. */
  readonly open: { readonly streams: number; readonly polls: number };
  /**
   * Stops accepting, ends streams and polls, and lets requests finish. Closes remaining connections after `withinMs`.
   */
  close(withinMs: number): Promise<void>;
}

export function createServer(ports: ServerPorts, options: ServerOptions): Server {
  const { store, gate, telemetry, timers } = ports;
  const unread = new UnreadBytes(options.unread, timers);
  const requests = new Idempotency({ ...ports, idempotency: store.idempotency });
  const surface = surfaceOf({ ...ports, unread, requests }, options);
  const { routes, webhooks, streams, polls, inbox, conversations, a2a, mcp } = surface;
  const answerKeys = ports.deriveKeys('idempotent-answer');
  const { laterTurns: loop } = options.httpServer;
  const longWork = new LongWork(loop);
  const inTurns = openedInTurns(loop);
  const served = routes
    .map(inTurns)
    .map((route) => idempotent(route, requests, (tenant) => sealerOf(answerKeys, tenant)));
  const app = createApp({ ...ports, ...options, unread, longWork, watch: telemetry.watch }, served);
  const closeSilent = watchSilent(app.server);
  return {
    routes,
    get open() {
      return { streams: streams.size, polls: polls.size };
    },
    async listen(port, bind) {
      await webhooks.open();
      await a2a.open();
      await conversations.open();
      try {
        await app.listen({ port, host: bind });
      } catch (error) {
        await Promise.all([webhooks.close(), a2a.closePushes()]);
        throw error;
      }
      const address = app.server.address();
      return typeof address === 'object' && address !== null ? address.port : port;
    },
    async close(withinMs) {
      gate.drain();
      conversations.close();
      // Disables keep-alive: connections that become idle from now on close at once.
      app.server.keepAliveTimeout = 1;
      app.server.keepAliveTimeoutBuffer = 0;
      const cut = timers.after(withinMs, () => app.server.closeAllConnections());
      const closed = app.close();
      closeSilent();
      for (const held of [streams, inbox, polls, a2a, mcp]) held.close();
      await closed;
      await Promise.all([webhooks.close(), a2a.closePushes()]);
      cut();
    },
  };
}

/** Builds all routes and the services that hold connections open. */
function surfaceOf(
  ports: ServerPorts & { readonly unread: UnreadBytes; readonly requests: Idempotency },
  {
    hostId,
    version,
    shares: limits,
    retention,
    conversations: options,
    maxRequestBodyBytes,
    maxTenantBytes,
    a2aVersions,
    httpServer,
  }: ServerOptions,
) {
  const { engine, store, discovery, now, baseUrl, egress, redactor, timers } = ports;
  const { log, changes, runIndex, contexts } = store;
  const shares = { engine, gate: ports.gate, limits };
  const loadView = createLoadView(store);
  const states = { past: new PastRuns({ log, loadView }), openSnapshots: new OpenSnapshots() };
  const turns = new FairTurns({ budget: TURN_BYTES, nextTurn: (go) => httpServer.laterTurns.nextTurn(go) });
  const responses = { unread: ports.unread, turns };
  const snapshots = new SnapshotFeed({ log, load: loadView, turns, timers, now, inTurn: ports.feed.inTurn });
  const streams = new EventStreams({ ...ports, snapshots, turns });
  followPurges({ ...ports, snapshots });
  const polls = new PollFeed(log);
  const tokens = createInterruptTokens(ports.deriveKeys('interrupt-token'));
  const cursors = createPageCursors(ports.deriveKeys('list-cursor'));
  const { isUnderTest } = ports.extension;
  const interrupts = { ...store, ...states, engine, loadView, tokens, now, baseUrl, cursors, trustsVoter: isUnderTest };
  const inbox = new InboxFeed({ log, changes, runIndex, loadView, cursors, timers, inTurn: ports.feed.inTurn });
  const webhooks = new Webhooks({ ...ports, version, interrupts, tokens });
  const bundles = { ...states, engine, log, version, now, responses };
  const runsAgents = discovery.agents?.supported === true;
  const models = { ...ports.models, allowsMocks: isUnderTest };
  const conversations = new ContextTurns(ports);
  const contextStreams = new ContextStreams({ feed: ports.feed, streams });
  const talk = { schemaTurns: turns, pageTurns: turns, contextStreams, ...states, ...agentsOfTalks(ports) };
  const talks = { ...ports, ...store, loadView, cursors, runsAgents, turns: conversations, ...talk, ...options };
  const runStreams = new RunStreams({ log, contexts, feed: ports.feed, streams });
  const chatStreams = new ChatStreams({ feed: ports.feed, streams });
  const about = { hostId, version, faces: new WorkflowFaces(engine) };
  const toPeers = { ...talks, ...about, streams, conversations: talks };
  const [a2a, mcp] = [createA2a({ ...toPeers, versions: a2aVersions }), createMcp({ ...toPeers, inputs: talks })];
  const routes: readonly Route[] = [
    ...runRoutes({ ...ports, ...store, ...states, hostId, webhooks, cursors, runsAgents, models, responses }),
    ...relativeRoutes({ ...ports, ...store, store, loadView, turns, responses, engine, models, hostId }),
    ...runControlRoutes(engine),
    ...retentionRoutes({ ...ports, rules: retention }),
    ...eventRoutes({ ...ports, ...states, log, turns, streams }),
    ...pollRoutes({ engine, log, polls, timers }),
    ...readTokenRoutes({ log, tokens: ports.gate.readTokens, baseUrl }),
    ...questionRoutes(interrupts, { log, runIndex, loadView, cursors, streams, feed: inbox }),
    ...contextRoutes(talks),
    ...aiSdkRoutes({ ...talks, registry: ports.registry, chatStreams }),
    ...aguiRoutes({ ...talks, registry: ports.registry, runStreams }),
    ...a2a.routes,
    ...mcp.routes,
    ...signInRoutes({ engine, contexts, loadView, now, baseUrl, signIns: ports.signIns }),
    ...webhookRoutes({ webhooks, egress, redactor }),
    ...debugBundleRoutes(bundles),
    ...artifactRoutes({ store, responses }),
    runArtifactRoute({ store }),
    artifactOverviewRoute({ store, cursors, turns }),
    saveRoute({ ...ports, loadView, maxJsonBytes: maxRequestBodyBytes, maxTenantBytes }),
    ...extensionRoutes(ports, bundles),
    ...catalogueRoutes(ports),
    ...ports.gate.routes(baseUrl),
    ...limitRoutes(shares),
    ...ports.telemetry.routes(() => ({ streams: streams.size, polls: polls.size, tenants: tenantFigures(shares) })),
    ...discoveryRoutes(() => withMcp(withA2a(discovery, a2aVersions, baseUrl()), baseUrl())),
    ...apiDescriptionRoutes(() => routes),
  ];
  return { routes, webhooks, streams, polls, inbox, conversations, a2a, mcp };
}

const agentsOfTalks = ({ store, registry }: ServerPorts) => ({
  agents: new ContextAgents(store),
  messageInputs: new MessageInputs({ ...store, registry }),
});

/** Routes for what relates a run to others, here and on other hosts. */
const relativeRoutes = (ports: AncestryPorts & ForkPorts & RunDiffPorts & PeerRoutePorts): readonly Route[] => [
  ...peerRoutes(ports),
  ...ancestryRoutes(ports),
  ...causesRoutes(ports),
  ...chainCheckRoutes(ports.log),
  ...forkRoutes(ports),
  ...runDiffRoutes(ports),
];

/** Routes for open interrupts and their answers. */
const questionRoutes = (interrupts: InterruptSurface, inbox: InboxSurface): readonly Route[] => [
  ...interruptRoutes(interrupts),
  ...tokenInterruptRoutes(interrupts),
  ...inboxRoutes(inbox),
];

/** Routes for agents, tools, calibration, workflows and node types. */
const catalogueRoutes = ({ engine, store, registry, tools }: ServerPorts): readonly Route[] => [
  ...agentRoutes(registry),
  ...toolRoutes(tools),
  ...calibrationRoutes(new CalibrationReader(store.changes)),
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
