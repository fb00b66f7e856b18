/** What a check of another host finds, in words: the same for the command line, which calls it itself, and for the host. */
import {
  CAUSATION_KEY,
  type Causation,
  type Discovery,
  eventId,
  type JsonObject,
  PROTOCOL_VERSION,
  type RunId,
} from '@cairn/protocol';

export interface PeerFinding {
  readonly subject: string;
  /** `bad` prevents the hosts from working together; `doubtful` deserves attention. */
  readonly state: 'good' | 'doubtful' | 'bad';
  readonly text: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
}

export const good = (subject: string, text: string): PeerFinding => ({ subject, state: 'good', text });
export const bad = (subject: string, text: string, hint: string): PeerFinding => ({
  subject,
  state: 'bad',
  text,
  hint,
});
export const doubtful = (subject: string, text: string, hint: string): PeerFinding => ({
  subject,
  state: 'doubtful',
  text,
  hint,
});

export function discoveryFinding({ implementation }: Discovery): PeerFinding {
  const { name = 'unknown', version = '' } = implementation ?? {};
  return good('discovery', `${name} ${version}`.trim());
}

/** The id in the discovery document; null for a host that has none, and so cannot be a peer. */
export const hostIdIn = ({ multiAgent }: Discovery): string | null =>
  multiAgent?.executionModel?.crossHostCausation?.hostId ?? null;

export function idFinding(expected: string, url: string, found: string | null): PeerFinding {
  if (found === expected) return good('host id', expected);
  const text = found === null ? `the host at ${url} has no id` : `the host at ${url} is ${found}, not ${expected}`;
  return bad(
    'host id',
    text,
    'Correct hostId or url of the peer in the configuration. Its statements do not count now.',
  );
}

export function versionFinding({ protocolVersion }: Discovery): PeerFinding {
  const [major] = protocolVersion.split('.');
  const [own] = PROTOCOL_VERSION.split('.');
  if (major === own) return good('version', `protocol ${protocolVersion}`);
  return bad(
    'version',
    `it speaks protocol ${protocolVersion}, and this host ${PROTOCOL_VERSION}`,
    'Upgrade one of the two hosts.',
  );
}

export function causesFinding({ multiAgent }: Discovery): PeerFinding {
  const { crossHostCausation } = multiAgent?.executionModel ?? {};
  if (crossHostCausation?.supported !== true)
    return doubtful('causes', 'it does not record causes on other hosts', '"cairn why" ends at its runs.');
  if (crossHostCausation.ancestryEndpointSupported === true) return good('causes', 'recorded, with ancestry');
  return doubtful('causes', 'recorded, without ancestry', '"cairn why" ends at its runs.');
}

/** `a2aVersions` are those of its agent card; empty if the card cannot be read, which a call would show. */
export function callsFinding({ mcp, a2a }: Discovery, a2aVersions: readonly string[]): PeerFinding {
  const served = [
    ...(isServed(mcp) ? [['MCP', ...versionsIn(mcp)].join(' ')] : []),
    ...(isServed(a2a) ? [['A2A', ...a2aVersions].join(' ')] : []),
  ];
  if (served.length > 0) return good('calls', served.join(', '));
  return doubtful('calls', 'it serves neither MCP nor A2A', 'Call it with POST /v1/runs.');
}

export const servesA2a = ({ a2a }: Discovery): boolean => isServed(a2a);

const isServed = (block: unknown): boolean =>
  typeof block === 'object' && block !== null && 'supported' in block && block.supported === true;

/** Those of MCP that a discovery document names. Its words are untrusted. */
function versionsIn(block: unknown): readonly string[] {
  const named = typeof block === 'object' && block !== null && 'protocolVersions' in block && block.protocolVersions;
  return Array.isArray(named) ? named.filter(isVersion).slice(0, MAX_VERSIONS) : [];
}

const MAX_VERSIONS = 8;

const isVersion = (text: unknown): text is string => typeof text === 'string' && /^[\w.-]{1,16}$/.test(text);

const PROXY = 'Look for a proxy between the hosts that removes traceparent.';

export const traceFinding = (traceId: string, answered: string | null): PeerFinding =>
  inTrace(answered, traceId)
    ? good('trace', `${traceId} came back`)
    : bad('trace', 'its response is in another trace', PROXY);

export const runTraceFinding = (traceId: string, runId: string, recorded: unknown): PeerFinding =>
  inTrace(recorded, traceId)
    ? good('trace of runs', 'recorded')
    : bad('trace of runs', `${runId} is in another trace`, PROXY);

/** Whether a `traceparent` is in a trace. */
const inTrace = (traceparent: unknown, traceId: string): boolean =>
  typeof traceparent === 'string' && traceparent.slice(3, 35) === traceId;

/** The request for a run at the peer that names a run of this host, which does not exist, as its cause. */
export function checkedRun(workflowId: string, from: RunId, self: { readonly hostId: string; readonly url: string }) {
  const statement: Causation = {
    runId: from,
    hostId: self.hostId,
    eventId: eventId(from, 0),
    wellKnownUrl: `${self.url}/.well-known/openwop`,
  };
  const metadata: JsonObject = { [CAUSATION_KEY]: { ...statement } };
  return { workflowId, tags: ['peer-check'], metadata };
}

interface RecordedParent {
  readonly runId?: unknown;
  readonly hostId?: unknown;
}

export function causeFinding(
  runId: string,
  { from, hostId }: { readonly from: RunId; readonly hostId: string },
  parent: RecordedParent | null | undefined,
): PeerFinding {
  if (parent?.runId === from && parent.hostId === hostId)
    return good('cause', `${runId} names ${hostId} as its parent`);
  return bad(
    'cause',
    `${runId} does not name ${hostId} as its parent: the peer ignored the statement`,
    `Have its operator list ${hostId} in peers, and set peer of your key to it.`,
  );
}
