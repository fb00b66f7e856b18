/** Assembles the HTTP surface of a host from its configuration and binds it to its address. */
import { TerminalError } from '@cairn/protocol';
import { LongWork } from '../engine/shares/long-work.ts';
import type { SharedCounters } from '../engine/shares/shared-counters.ts';
import { LiveFeed } from '../log/feed/feed.ts';
import type { Store } from '../log/ports/store.ts';
import { thrownCode } from '../thrown-code.ts';
import { addressMatcher } from './access/addresses.ts';
import { createGate } from './access/gate.ts';
import { elapsedMs, laterTurns, loopTime, systemClock, systemTimers, uniqueId } from './compose.ts';
import type { HostConfig } from './config/config.ts';
import { DOCS_FOLDER } from './docs-site/docs.ts';
import { createEgress } from './egress/egress.ts';
import { publicDns } from './egress/public-dns.ts';
import type { IdentifiedConfig } from './host-id.ts';
import type { HostServices } from './host-services.ts';
import { createServer, type Server } from './http/http.ts';
import { type HttpServerOptions, safetyHeaders } from './http/http-server.ts';
import { knownPeers } from './peers/peer-routes.ts';
import { streamPace } from './streams/stream-pace.ts';
import { STUDIO_FOLDER } from './studio/files.ts';
import { hostVersion } from './version.ts';

export interface Serving {
  readonly url: string;
  readonly http: Server;
  /** What callers use of their limits. */
  readonly limits: SharedCounters;
}

/** Resolves once the host listens. */
export async function serve(config: IdentifiedConfig, services: HostServices): Promise<Serving> {
  const { store, report, redactor } = services;
  const gate = createGate(config, {
    now: systemClock.now,
    timers: systemTimers,
    report,
    redactor,
    sessionKeys: services.deriveKeys('session'),
    readTokenKeys: services.deriveKeys('read-token'),
    expiring: store.expiring,
    cluster: services.clusterNode,
  });
  const http = createServer(
    {
      ...services,
      feed: liveFeed(store),
      gate,
      timers: systemTimers,
      now: systemClock.now,
      uniqueId,
      egress: createEgress({ allow: config.egress.allow, resolve: publicDns, timers: systemTimers }),
      peers: knownPeers(config),
      peerEgress: createEgress({
        allow: config.peers.map(({ url: of }) => new URL(of).origin),
        resolve: publicDns,
        timers: systemTimers,
      }),
      baseUrl: () => services.address.url ?? url,
    },
    {
      maxRequestBodyBytes: config.limits.maxRequestBodyBytes,
      maxTenantBytes: config.limits.tenantLogBytes,
      shares: config.limits,
      unread: config.limits,
      retention: config.retention,
      conversations: {
        defaultAgent: config.defaultAgent,
        maxQueuedMessages: config.limits.maxQueuedMessages,
        clientToolTimeoutMs: config.tools.clientTimeoutMs,
      },
      a2aVersions: config.a2a.versions,
      hostId: config.hostId,
      version: hostVersion(),
      httpServer: httpServerOptions(config),
      studioFolder: STUDIO_FOLDER,
      docsFolder: DOCS_FOLDER,
    },
  );
  let url = '';
  const port = await http.listen(config.port, config.bind).catch((error: unknown) => {
    throw notListening(error, config);
  });
  url = `http://${reachableName(config.bind)}:${port}`;
  services.address.url ??= url;
  return { url, http, limits: gate.limits };
}

/** However many clients follow a context, each turn of the event loop writes to a few of them. */
function liveFeed(store: Store): LiveFeed {
  const writes = new LongWork(laterTurns);
  return new LiveFeed(store, {
    pace: streamPace({ loopTime, elapsedMs, timers: systemTimers }),
    inTurn: (tenant, write) => void writes.take(tenant, write),
  });
}

const httpServerOptions = ({ limits, trustedProxies, publicUrl }: HostConfig): HttpServerOptions => ({
  connections: {
    maxConnections: limits.maxConnections,
    maxConnectionsPerAddress: limits.maxConnectionsPerAddress,
    isTrustedProxy: addressMatcher(trustedProxies),
  },
  hasProxies: trustedProxies.length > 0,
  laterTurns,
  headers: safetyHeaders(publicUrl),
});

/** A name under which this machine reaches the bound address; "all addresses" is not one. */
function reachableName(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1';
  if (bind === '::') return '[::1]';
  return bind.includes(':') ? `[${bind}]` : bind;
}

function notListening(error: unknown, { bind, port }: HostConfig): unknown {
  const code = thrownCode(error);
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program uses it',
    EACCES: 'this user may not use it',
    EADDRNOTAVAIL: 'this machine does not have that address',
  };
  const reason = typeof code === 'string' ? why[code] : undefined;
  if (reason === undefined) return error;
  return new TerminalError('config_invalid', {
    message: `Cannot serve on ${bind}:${port}: ${reason}.`,
    hint: 'Choose another with --port or --bind; --port 0 takes a free port.',
    cause: error,
  });
}
