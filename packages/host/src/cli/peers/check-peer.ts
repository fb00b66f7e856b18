/** The checks of one peer: what it can do, which versions it speaks, and whether a trace and a cause arrive there. */
import { randomBytes } from 'node:crypto';
import {
  CAUSATION_KEY,
  type Causation,
  type Discovery,
  eventId,
  type JsonObject,
  PROTOCOL_VERSION,
  runId as runIdOf,
} from '@cairn/protocol';
import { z } from 'zod';
import { boundedFetch } from '../bounded-fetch.ts';
import { check, type Finding } from '../doctor-finding.ts';
import { peerClient } from '../peer-client.ts';
import { type DiscoveredPeer, discoverPeer } from './discovered-peer.ts';

export interface PeerCheck {
  readonly hostId: string;
  readonly url: string;
  /** The key of the user at the peer; undefined checks only what everybody may see. */
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
    const { name = 'unknown', version = '' } = found.document.implementation ?? {};
    return good('discovery', `${name} ${version}`.trim());
  });
  if (found === null) return [reached];
  const { document, hostId }: DiscoveredPeer = found;
  return [
    reached,
    idFinding(asked, hostId),
    versionFinding(document),
    causesFinding(document),
    await callsFinding(asked, document),
    ...(await roundTrips(asked)),
  ];
}

const good = (subject: string, text: string): Finding => ({ subject, state: 'good', text });
const bad = (subject: string, text: string, hint: string): Finding => ({ subject, state: 'bad', text, hint });
const doubtful = (subject: string, text: string, hint: string): Finding => ({ subject, state: 'doubtful', text, hint });

function idFinding({ hostId, url }: PeerCheck, found: string | null): Finding {
  if (found === hostId) return good('host id', hostId);
  const text = found === null ? `the host at ${url} has no id` : `the host at ${url} is ${found}, not ${hostId}`;
  return bad(
    'host id',
    text,
    'Correct hostId or url of the peer in the configuration. Its statements do not count now.',
  );
}

function versionFinding({ protocolVersion }: Discovery): Finding {
  const [major] = protocolVersion.split('.');
  const [own] = PROTOCOL_VERSION.split('.');
  if (major === own) return good('version', `protocol ${protocolVersion}`);
  return bad(
    'version',
    `it speaks protocol ${protocolVersion}, and this host ${PROTOCOL_VERSION}`,
    'Upgrade one of the two hosts.',
  );
}

function causesFinding({ multiAgent }: Discovery): Finding {
  const { crossHostCausation } = multiAgent?.executionModel ?? {};
  if (crossHostCausation?.supported !== true)
    return doubtful('causes', 'it does not record causes on other hosts', '"cairn why" ends at its runs.');
  if (crossHostCausation.ancestryEndpointSupported === true) return good('causes', 'recorded, with ancestry');
  return doubtful('causes', 'recorded, without ancestry', '"cairn why" ends at its runs.');
}

async function callsFinding({ url }: PeerCheck, { mcp, a2a }: Discovery): Promise<Finding> {
  const served = [
    ...(isServed(mcp) ? ['MCP'] : []),
    ...(isServed(a2a) ? [['A2A', ...(await a2aVersions(url))].join(' ')] : []),
  ];
  if (served.length > 0) return good('calls', served.join(', '));
  return doubtful('calls', 'it serves neither MCP nor A2A', 'Call it with POST /v1/runs.');
}

const isServed = (block: unknown): boolean => z.object({ supported: z.literal(true) }).safeParse(block).success;

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
  const inTrace = (text: unknown): boolean => typeof text === 'string' && text.slice(3, 35) === traceId;
  const trace = inTrace(answered)
    ? good('trace', `${traceId} came back`)
    : bad('trace', 'its response is in another trace', 'Look for a proxy between the hosts that removes traceparent.');
  return [key, trace, ...(await causeTrip(asked, client, inTrace))];
}

type Peer = ReturnType<typeof peerClient>;

/** Starts a run that names a run of this host as its cause, and reads from the peer what it recorded. */
async function causeTrip(
  asked: PeerCheck,
  client: Peer,
  inTrace: (text: unknown) => boolean,
): Promise<readonly Finding[]> {
  const { workflow, self } = asked;
  if (workflow === undefined)
    return [doubtful('cause', 'not checked: no run was started', 'Pass a workflow there that may run: --workflow.')];
  const { hostId } = self;
  if (hostId === undefined)
    return [
      doubtful(
        'cause',
        'not checked: the id of this host is not known',
        'Start this host, or set hostId in its configuration.',
      ),
    ];
  const from = runIdOf(`peer-check-${randomBytes(6).toString('hex')}`);
  const statement: Causation = {
    runId: from,
    hostId,
    eventId: eventId(from, 0),
    wellKnownUrl: `${self.url}/.well-known/openwop`,
  };
  const findings: Finding[] = [];
  findings.push(
    await check('cause', async () => {
      const { runId } = await client.runs.create({
        workflowId: workflow,
        tags: ['peer-check'],
        metadata: { [CAUSATION_KEY]: statement },
      });
      const { parent } = await client.runs.ancestry(runId);
      findings.push(await recordedTrace(client, runId, inTrace));
      // The run may have ended already, or may not be cancelled by this key.
      await client.runs.cancel(runId, 'peer check').catch(() => undefined);
      if (parent?.runId === from && parent.hostId === hostId)
        return good('cause', `${runId} names ${hostId} as its parent`);
      return bad(
        'cause',
        `${runId} does not name ${hostId} as its parent: the peer ignored the statement`,
        `Have its operator list ${hostId} in peers, and set peer of your key to it.`,
      );
    }),
  );
  return findings;
}

const recordedTrace = (client: Peer, runId: string, inTrace: (text: unknown) => boolean): Promise<Finding> =>
  check('trace of runs', async () => {
    for await (const { payload } of client.follow(runId, { signal: AbortSignal.timeout(10_000) })) {
      const { traceparent } = payload as JsonObject;
      if (inTrace(traceparent)) return good('trace of runs', 'recorded');
      break;
    }
    return bad(
      'trace of runs',
      `${runId} is in another trace`,
      'Look for a proxy between the hosts that removes traceparent.',
    );
  });
