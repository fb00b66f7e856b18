/** The checks of one peer: what it can do, which versions it speaks, and whether a trace and a cause arrive there. */
import { randomBytes } from 'node:crypto';
import { type JsonObject, runId as runIdOf } from '@cairn/protocol';
import { z } from 'zod';
import {
  callsFinding,
  causeFinding,
  causesFinding,
  checkedRun,
  discoveryFinding,
  doubtful,
  good,
  idFinding,
  runTraceFinding,
  servesA2a,
  traceFinding,
  versionFinding,
} from '../../peer-findings.ts';
import { boundedFetch } from '../bounded-fetch.ts';
import { check, type Finding } from '../doctor-finding.ts';
import { peerClient } from '../peer-client.ts';
import { type DiscoveredPeer, discoverPeer } from './discovered-peer.ts';

export interface PeerCheck {
  readonly hostId: string;
  readonly url: string;
  /** The key of the user at the peer; undefined checks only what is public. */
  readonly key: string | undefined;
  /** A workflow of the peer that may run; undefined starts nothing. */
  readonly workflow: string | undefined;
  /** This host, as it names itself to the peer. */
  readonly self: { readonly hostId: string | undefined; readonly url: string };
}

export async function checkPeer(asked: PeerCheck): Promise<readonly Finding[]> {
  let found: DiscoveredPeer | null = null;
  const reached = await check('discovery', async () => {
    found = await discoverPeer({ url: asked.url });
    return discoveryFinding(found.document);
  });
  if (found === null) return [reached];
  const { document, hostId }: DiscoveredPeer = found;
  return [
    reached,
    idFinding(asked.hostId, asked.url, hostId),
    versionFinding(document),
    causesFinding(document),
    callsFinding(document, servesA2a(document) ? await a2aVersions(asked.url) : []),
    ...(await roundTrips(asked)),
  ];
}

const cardVersions = z.object({
  supportedInterfaces: z.array(z.object({ protocolVersion: z.string().max(16) })).max(32),
});

/** The versions in its agent card. None if the card cannot be read, which a call would show. */
async function a2aVersions(url: string): Promise<readonly string[]> {
  try {
    const address = `${url.replace(/\/+$/, '')}/.well-known/agent-card.json`;
    const init = { headers: { 'a2a-version': '1.0' }, signal: AbortSignal.timeout(5_000) };
    const { supportedInterfaces } = cardVersions.parse(await (await boundedFetch()(address, init)).json());
    return [...new Set(supportedInterfaces.map(({ protocolVersion }) => protocolVersion))];
  } catch {
    return [];
  }
}

async function roundTrips(asked: PeerCheck): Promise<readonly Finding[]> {
  if (asked.key === undefined)
    return [
      doubtful('trace, cause', 'not checked: there is no key', 'Pass the variable with your key there: --key-env.'),
    ];
  const traceId = randomBytes(16).toString('hex');
  let answered: string | null = null;
  const client = peerClient({
    url: asked.url,
    key: asked.key,
    headers: { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` },
    onResponse: ({ headers }) => {
      answered = headers.get('traceparent');
    },
  });
  const key = await check('key', async () => {
    await client.runs.list({ limit: 1 });
    return good('key', 'accepted');
  });
  if (key.state === 'bad') return [key];
  const trace = traceFinding(traceId, answered);
  return [key, trace, ...(await causeTrip(asked, client, traceId))];
}

type Peer = ReturnType<typeof peerClient>;

/** Starts a run that names a run of this host as its cause, and reads from the peer what it recorded. */
async function causeTrip(asked: PeerCheck, client: Peer, traceId: string): Promise<readonly Finding[]> {
  const { workflow, self } = asked;
  if (workflow === undefined)
    return [doubtful('cause', 'not checked: no run was started', 'Pass a workflow there that may run: --workflow.')];
  const { hostId, url } = self;
  if (hostId === undefined)
    return [
      doubtful(
        'cause',
        'not checked: the id of this host is not known',
        'Start this host, or set hostId in its configuration.',
      ),
    ];
  const from = runIdOf(`peer-check-${randomBytes(6).toString('hex')}`);
  const findings: Finding[] = [];
  findings.push(
    await check('cause', async () => {
      const { runId } = await client.runs.create(checkedRun(workflow, from, { hostId, url }));
      const { parent } = await client.runs.ancestry(runId);
      findings.push(await recordedTrace(client, runId, traceId));
      // The run may have ended already, or may not be cancelled by this key.
      await client.runs.cancel(runId, 'peer check').catch(() => undefined);
      return causeFinding(runId, { from, hostId }, parent);
    }),
  );
  return findings;
}

const recordedTrace = (client: Peer, runId: string, traceId: string): Promise<Finding> =>
  check('trace of runs', async () => {
    for await (const { payload } of client.follow(runId, { signal: AbortSignal.timeout(10_000) })) {
      return runTraceFinding(traceId, runId, (payload as JsonObject).traceparent);
    }
    return runTraceFinding(traceId, runId, null);
  });
