/**
 * Checks a peer from this host, as `cairn peer check` does from the machine of its user. Only the address of the
 * configuration is called, no redirect is followed, and the key of the caller goes to that host alone.
 */
import { randomBytes } from 'node:crypto';
import {
  type Discovery,
  discovery,
  errorEnvelope,
  isCairnError,
  type JsonObject,
  quoted,
  runId as runIdOf,
} from '@cairn/protocol';
import { z } from 'zod';
import {
  bad,
  callsFinding,
  causeFinding,
  causesFinding,
  checkedRun,
  discoveryFinding,
  doubtful,
  good,
  hostIdIn,
  idFinding,
  type PeerFinding,
  runTraceFinding,
  servesA2a,
  traceFinding,
  versionFinding,
} from '../../peer-findings.ts';
import type { Egress } from '../egress/egress.ts';

export interface PeerCheckPorts {
  /** Allows the origins of the peers. */
  readonly peerEgress: Egress;
  /** The id of this host. */
  readonly hostId: string;
  readonly baseUrl: () => string;
}

export interface CheckedPeer {
  readonly hostId: string;
  readonly url: string;
  /** The caller's key at the peer. */
  readonly key: string | undefined;
  /** A workflow there that may run. */
  readonly workflow: string | undefined;
}

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 1_048_576;

export async function peerFindings(peer: CheckedPeer, ports: PeerCheckPorts): Promise<readonly PeerFinding[]> {
  const trace = randomBytes(16).toString('hex');
  const call = callsTo(peer, ports.peerEgress, trace);
  let document: Discovery | null = null;
  const reached = await checked('discovery', async () => {
    const read = discovery.safeParse((await call({ path: '/.well-known/openwop' })).body);
    if (!read.success) throw new Error(`it is not an OpenWOP host: ${quoted(z.prettifyError(read.error), 300)}`);
    document = read.data;
    return discoveryFinding(read.data);
  });
  if (document === null) return [reached];
  const found: Discovery = document;
  return [
    reached,
    idFinding(peer.hostId, peer.url, hostIdIn(found)),
    versionFinding(found),
    causesFinding(found),
    callsFinding(found, servesA2a(found) ? await a2aVersions(call) : []),
    ...(await roundTrips(peer, { call, trace, ports })),
  ];
}

interface PeerRequest {
  readonly path: string;
  readonly body?: object;
  /** With the key of the caller. */
  readonly isKeyed?: true;
  readonly headers?: Readonly<Record<string, string>>;
}

interface PeerAnswer {
  readonly body: unknown;
  readonly traceparent: string | null;
}

type CallPeer = (request: PeerRequest) => Promise<PeerAnswer>;

const callsTo =
  ({ url, key }: CheckedPeer, egress: Egress, trace: string): CallPeer =>
  async ({ path, body, isKeyed, headers = {} }) => {
    const response = await egress.send({
      url: `${url.replace(/\/+$/, '')}${path}`,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'cairn',
        traceparent: `00-${trace}-${randomBytes(8).toString('hex')}-01`,
        ...(isKeyed && key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_BYTES,
    });
    const { status } = response;
    if (status >= 300 && status < 400) throw new Error('it leads to another address, which is not followed');
    if (response.isCut) throw new Error(`it sends more than ${MAX_BYTES} bytes`);
    const parsed = jsonIn(response.body);
    if (status >= 400) throw new Error(refusal(status, parsed));
    const { traceparent } = response.headers;
    return { body: parsed, traceparent: typeof traceparent === 'string' ? traceparent : null };
  };

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Error('it answers with something else instead of JSON');
  }
}

function refusal(status: number, body: unknown): string {
  const read = errorEnvelope.safeParse(body);
  return read.success
    ? `${read.data.error}: ${quoted(read.data.message, 300)}`
    : `its response has the status ${status}`;
}

/** A check that throws is a finding, too. */
async function checked(subject: string, run: () => Promise<PeerFinding>): Promise<PeerFinding> {
  try {
    return await run();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const hint = isCairnError(error) ? error.hint : undefined;
    return bad(subject, text, hint ?? 'Ask the operator of that host.');
  }
}

const cardVersions = z.object({
  supportedInterfaces: z.array(z.object({ protocolVersion: z.string().max(16) })).max(32),
});

async function a2aVersions(call: CallPeer): Promise<readonly string[]> {
  try {
    const { body } = await call({ path: '/.well-known/agent-card.json', headers: { 'a2a-version': '1.0' } });
    return [...new Set(cardVersions.parse(body).supportedInterfaces.map(({ protocolVersion }) => protocolVersion))];
  } catch {
    return [];
  }
}

interface Trips {
  readonly call: CallPeer;
  readonly trace: string;
  readonly ports: PeerCheckPorts;
}

async function roundTrips(peer: CheckedPeer, { call, trace, ports }: Trips): Promise<readonly PeerFinding[]> {
  if (peer.key === undefined)
    return [doubtful('trace, cause', 'not checked: there is no key', 'Give your own key at that host.')];
  let answered: string | null = null;
  const key = await checked('key', async () => {
    answered = (await call({ path: '/v1/runs?limit=1', isKeyed: true })).traceparent;
    return good('key', 'accepted');
  });
  if (key.state === 'bad') return [key];
  const traced = traceFinding(trace, answered);
  if (peer.workflow === undefined)
    return [key, traced, doubtful('cause', 'not checked: no run was started', 'Name a workflow there that may run.')];
  return [key, traced, ...(await causeTrip(peer.workflow, { call, trace, ports }))];
}

const created = z.object({ runId: z.string().regex(/^run_[\w.-]{1,124}$/) });
const ancestry = z.object({ parent: z.object({ runId: z.string(), hostId: z.string().optional() }).nullish() });
const firstEvents = z.object({ events: z.array(z.object({ payload: z.unknown() })) });

/** Starts a run that names a run of this host as its cause, and reads from the peer what it recorded. */
async function causeTrip(workflow: string, { call, trace, ports }: Trips): Promise<readonly PeerFinding[]> {
  const { hostId } = ports;
  const from = runIdOf(`peer-check-${randomBytes(6).toString('hex')}`);
  const findings: PeerFinding[] = [];
  const cause = await checked('cause', async () => {
    const asked = checkedRun(workflow, from, { hostId, url: ports.baseUrl() });
    const { runId } = created.parse((await call({ path: '/v1/runs', body: asked, isKeyed: true })).body);
    const path = `/v1/runs/${runId}`;
    const { parent } = ancestry.parse((await call({ path: `${path}/ancestry`, isKeyed: true })).body);
    findings.push(
      await checked('trace of runs', async () => {
        const polled = await call({ path: `${path}/events/poll?timeout=5`, isKeyed: true });
        const payload = firstEvents.parse(polled.body).events[0]?.payload as JsonObject | undefined;
        return runTraceFinding(trace, runId, payload?.traceparent);
      }),
    );
    // The run may have ended already, or may not be cancelled by this key.
    await call({ path: `${path}/cancel`, body: { reason: 'peer check' }, isKeyed: true }).catch(() => undefined);
    return causeFinding(runId, { from, hostId }, parent);
  });
  return [...findings, cause];
}
