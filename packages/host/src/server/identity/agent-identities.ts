/**
 * What a new run records about the identities of its agents in other systems. They are resolved when the run starts, and
 * never again for that run: a replay reads the record.
 */
import { isCairnError, isoTime, type JsonObject } from '@cairn/protocol';
import type { AgentMetadata, Report } from '../../engine/ports.ts';
import { type DeclaredIdentity, type Identity, type IdentityPorts, resolveIdentity } from './identity.ts';

/** How long an answer is used. A run that starts meanwhile records when it was given. */
const KEPT_MS = 300_000;
/** A host that does not answer is not asked by every run. */
const FAILURE_KEPT_MS = 30_000;
/** Identities that one run records. They are part of its first event, which every reader of the run gets. */
const MAX_PER_RUN = 16;

interface Unresolved {
  readonly kind: 'unresolved';
  readonly code: string;
  readonly message: string;
  readonly triedAt: number;
}

interface Answer {
  readonly found: Promise<Identity | Unresolved>;
  usedUntil: number;
}

type IdentitiesById = Readonly<Record<string, DeclaredIdentity>>;

export interface Identities {
  /** Recorded by every run that may act as the agent. */
  readonly declared: IdentitiesById;
  /** Those of A2A peers, recorded by runs whose nodes name the peer: other runs ask no peer. */
  readonly peers?: IdentitiesById;
}

/** The metadata of runs, by the ids of their agents. The identities are fixed, so what is kept is bounded by them. */
export function createAgentIdentities(
  { declared, peers = {} }: Identities,
  ports: IdentityPorts & { readonly report: Report },
): AgentMetadata | null {
  const all: IdentitiesById = { ...peers, ...declared };
  if (Object.keys(all).length === 0) return null;
  const answers = new Map<string, Answer>();

  const answerFor = (agentId: string, identity: DeclaredIdentity): Promise<Identity | Unresolved> => {
    const known = answers.get(agentId);
    if (known !== undefined && ports.now() < known.usedUntil) return known.found;
    // All runs that start meanwhile wait for this answer.
    const answer: Answer = { found: resolvedOrNot(identity, ports), usedUntil: Number.POSITIVE_INFINITY };
    answers.set(agentId, answer);
    void answer.found.then((found) => {
      answer.usedUntil = ports.now() + (found.kind === 'unresolved' ? FAILURE_KEPT_MS : KEPT_MS);
      if (found.kind !== 'unresolved') return;
      const { code, message } = found;
      ports.report({ level: 'warn', event: 'identity.unresolved', facts: { agentId, code, message } });
    });
    return answer.found;
  };

  return async ({ pinned, named }) => {
    const isRecorded = (agentId: string) =>
      Object.hasOwn(declared, agentId) || (named.has(agentId) && Object.hasOwn(all, agentId));
    // Those that the run names come first: a host may have many agents that the run only could call.
    const byUse = [
      ...pinned.filter((agentId) => named.has(agentId)),
      ...pinned.filter((agentId) => !named.has(agentId)),
    ];
    const identified = byUse.filter(isRecorded).slice(0, MAX_PER_RUN);
    if (identified.length === 0) return null;
    const recorded: Record<string, Record<string, JsonObject>> = {};
    await Promise.all(
      identified.map(async (agentId) => {
        const identity = all[agentId];
        if (identity === undefined) return;
        const found = await answerFor(agentId, identity);
        const key = metadataKey(identity);
        recorded[key] = { ...recorded[key], [agentId]: { ...asDeclared(identity), ...asFound(found) } };
      }),
    );
    // In one order, whichever answer came first.
    const sorted = Object.entries(recorded).map(([key, agents]) => [
      key,
      Object.fromEntries(Object.entries(agents).sort(([a], [b]) => (a < b ? -1 : 1))),
    ]);
    return Object.fromEntries(sorted.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
  };
}

/** A run starts although an identity cannot be resolved. Its record says so, and why. */
async function resolvedOrNot(identity: DeclaredIdentity, ports: IdentityPorts): Promise<Identity | Unresolved> {
  try {
    return await resolveIdentity(identity, ports);
  } catch (error) {
    const { code, message } = isCairnError(error) ? error : { code: 'internal_error', message: 'unknown' };
    return { kind: 'unresolved', code, message: message.slice(0, 300), triedAt: ports.now() };
  }
}

/** The keys that the protocol names for each of the three systems. */
function metadataKey(identity: DeclaredIdentity): string {
  if ('did' in identity) return 'vendor.openwop.did';
  return 'a2aCard' in identity ? 'vendor.openwop.a2a.agentCardUrl' : 'vendor.openwop.agntcy.gatewayId';
}

function asDeclared(identity: DeclaredIdentity): JsonObject {
  if ('did' in identity) return { did: identity.did };
  if ('a2aCard' in identity) return { url: identity.a2aCard };
  return { gatewayId: identity.agntcy.gatewayId, remoteAgentId: identity.agntcy.agentId };
}

function asFound(found: Identity | Unresolved): JsonObject {
  if (found.kind === 'unresolved') {
    const { code, message, triedAt } = found;
    return { evidence: 'none', unresolved: { code, message }, triedAt: isoTime(triedAt) };
  }
  const { agentId } = found;
  if (found.kind === 'agntcy') return { agentId, evidence: 'none' };
  const { documentSha256, resolvedAt } = found;
  const document = { agentId, documentSha256, resolvedAt: isoTime(resolvedAt) };
  return found.kind === 'did'
    ? { ...document, evidence: 'document' }
    : { ...document, evidence: 'card', signature: { ...found.signature } };
}
