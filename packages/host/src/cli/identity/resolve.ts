/** `cairn identity resolve`: shows the id that an agent of another system has in runs, and the evidence for it. */
import { readFileSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import {
  agentIdProblem,
  isCairnError,
  isJsonObject,
  isoTime,
  type Json,
  quoted,
  TerminalError,
  thrownText,
} from '@cairn/protocol';
import { peerCardUrl } from '../../server/a2a-client/kept-card.ts';
import { peerSettings } from '../../server/a2a-client/peer-settings.ts';
import { systemTimers } from '../../server/compose.ts';
import { readConfig } from '../../server/config/config-sources.ts';
import { createEgress } from '../../server/egress/egress.ts';
import { publicDns } from '../../server/egress/public-dns.ts';
import { peerIdentity } from '../../server/identity/host-identities.ts';
import { type DeclaredIdentity, type Identity, resolveIdentity } from '../../server/identity/identity.ts';
import { keysOfSet, type PublicJwk } from '../../server/identity/public-jwk.ts';
import { plainOriginsOf } from '../../server/identity/resolve-did.ts';
import { exit } from '../exit.ts';
import { jsonLine, type Style, safe, styleOf } from '../render/style.ts';
import type { Terminal } from '../terminal.ts';

export interface ResolveFlags {
  readonly key?: string;
  readonly allow?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
}

/** Exits with 4 if the card has a signature that is wrong. */
export async function resolveId(terminal: Terminal, id: string, flags: ResolveFlags): Promise<number> {
  const found = agentIdProblem(id) === null ? ownAgent(id) : shown(await resolved(terminal, id, flags));
  if (flags.json === true) terminal.print(jsonLine(found));
  else for (const line of lines(found, styleOf(terminal.colours.out))) terminal.print(line);
  return found.evidence.signature?.state === 'invalid' ? exit.refused : exit.ok;
}

async function resolved(terminal: Terminal, id: string, flags: ResolveFlags): Promise<Identity> {
  const { key, allow = [], config } = flags;
  const given = declared(id, key === undefined ? [] : readKeys(resolvePath(terminal.cwd, key)));
  const identity = config === undefined ? given : await ofPeer(terminal, given, resolvePath(terminal.cwd, config));
  const isOfPeer = 'headers' in identity && 'a2aCard' in identity;
  const origins = [...allow.map(checkedOrigin), ...(isOfPeer ? [new URL(identity.a2aCard).origin] : [])];
  const ports = {
    egress: createEgress({ allow: origins, resolve: publicDns, timers: systemTimers }),
    plainOrigins: plainOriginsOf(origins),
    now: () => terminal.now(),
  };
  return resolveIdentity(identity, ports).catch((error) => {
    if (!isCairnError(error, 'http_url_rejected')) throw error;
    const hint =
      'Use a public https address, or allow its origin with --allow. On this machine: --allow http://localhost:8080.';
    throw new TerminalError('http_url_rejected', { message: error.message, hint, cause: error });
  });
}

/**
 * The card of an A2A peer of the configuration, with the headers of that peer, which go to its address alone. The file is
 * named by the user: one that lies in a folder by chance must not send values of the environment anywhere.
 */
async function ofPeer({ env }: Terminal, identity: DeclaredIdentity, file: string): Promise<DeclaredIdentity> {
  const wanted = 'a2aCard' in identity ? peerCardUrl(identity.a2aCard) : null;
  const peers = peerSettings(await readConfig({ file, env }));
  const peer = peers.find(({ url }) => peerCardUrl(url) === wanted);
  if (peer !== undefined && 'a2aCard' in identity) return { ...identity, ...peerIdentity(peer), keys: identity.keys };
  throw new TerminalError('validation_error', {
    message: `${file} has no A2A peer with this address.`,
    hint: `Pass the url of one of its a2a.peers (${peers.map(({ url }) => url).join(', ') || 'there are none'}), or leave out --config.`,
  });
}

function declared(id: string, keys: readonly PublicJwk[]): DeclaredIdentity {
  if (id.startsWith('did:')) return { did: id };
  if (/^https?:\/\//.test(id) && URL.canParse(id)) return { a2aCard: id, keys };
  const [, gatewayId, agentId] = /^agntcy:([^:]{1,128}):(.{1,128})$/.exec(id) ?? [];
  if (gatewayId !== undefined && agentId !== undefined) return { agntcy: { gatewayId, agentId } };
  throw new TerminalError('validation_error', {
    message: `${quoted(id, 120)} is not an identity that can be resolved.`,
    hint: 'Pass a DID (did:web:…, did:key:…), the https address of an A2A agent card, agntcy:<gateway>:<agent>, or the id of an agent.',
  });
}

function checkedOrigin(text: string): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text;
  throw new TerminalError('validation_error', {
    message: `--allow ${quoted(text, 120)} is not an origin.`,
    hint: 'It looks like http://localhost:3000, without a path.',
  });
}

/** A JWK, or a set of them. */
function readKeys(path: string): readonly PublicJwk[] {
  let reason: string;
  try {
    const read: Json = JSON.parse(readFileSync(path, 'utf8'));
    const keys = keysOfSet(isJsonObject(read) && Array.isArray(read.keys) ? read.keys : [read]);
    if (keys.length > 0) return keys;
    reason = 'it holds no public key as a JWK or a set of JWKs';
  } catch (error) {
    reason = thrownText(error);
  }
  throw new TerminalError('validation_error', {
    message: `The key file ${path} cannot be used: ${reason}.`,
    hint: 'It looks like { "kty": "OKP", "crv": "Ed25519", "x": "…", "kid": "…" }.',
  });
}

interface Shown {
  readonly agentRef: { readonly agentId: string; readonly name?: string };
  readonly kind: 'manifest' | 'host' | Identity['kind'];
  readonly evidence: Evidence;
}

interface Evidence {
  readonly kind: 'none' | 'document' | 'card';
  readonly did?: string;
  readonly url?: string | null;
  readonly gatewayId?: string;
  readonly documentSha256?: string;
  readonly resolvedAt?: string;
  readonly keys?: readonly { readonly id: string; readonly type: string }[];
  readonly signature?: { readonly state: string; readonly reason?: string; readonly keyFrom?: string };
}

/** An agent of a pack or of a host has its own id. Its evidence is the pack that the host checked. */
const ownAgent = (agentId: string): Shown => ({
  agentRef: { agentId },
  kind: agentId.startsWith('host:') ? 'host' : 'manifest',
  evidence: { kind: 'none' },
});

function shown(identity: Identity): Shown {
  const { kind, agentId } = identity;
  if (identity.kind === 'agntcy')
    return { agentRef: { agentId }, kind, evidence: { kind: 'none', gatewayId: identity.gatewayId } };
  const { url, documentSha256 } = identity;
  const fetched = { url, documentSha256, resolvedAt: isoTime(identity.resolvedAt) };
  if (identity.kind === 'did') {
    const { did, keys } = identity;
    return { agentRef: { agentId }, kind, evidence: { kind: 'document', did, ...fetched, keys } };
  }
  const { name, signature } = identity;
  return {
    agentRef: { agentId, name: name.slice(0, 256) },
    kind,
    evidence: { kind: 'card', ...fetched, signature },
  };
}

function* lines({ agentRef, kind, evidence }: Shown, style: Style): Generator<string> {
  yield style.bold(safe(agentRef.agentId));
  const { signature, keys = [] } = evidence;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['name', agentRef.name],
    ['did', evidence.did],
    ['gateway', evidence.gatewayId],
    ['from', evidence.url === null ? 'the key in the DID itself' : evidence.url],
    ['sha256', evidence.documentSha256],
    ['resolved', evidence.resolvedAt],
    ...keys.map(({ id, type }) => ['key', `${id} (${type})`] as const),
    ['signature', signature === undefined ? undefined : signatureText(signature)],
    ['evidence', evidence.kind === 'none' ? noEvidence[kind] : evidence.kind],
  ];
  for (const [label, text] of facts)
    if (text !== undefined && text !== null) yield `  ${style.dim(label.padEnd(9))}  ${safe(text)}`;
}

const noEvidence: Readonly<Record<string, string>> = {
  agntcy: 'none: the gateway is not asked',
  manifest: 'none: the pack of the agent says who signed it ("cairn pack list")',
  host: 'none: the host itself defines this agent ("cairn agents")',
};

const signatureText = ({ state, reason, keyFrom }: NonNullable<Evidence['signature']>): string =>
  [
    state,
    keyFrom === 'given' ? ', with a given key' : keyFrom === 'card-host' ? ', with a key of the host of the card' : '',
    reason === undefined ? '' : `: ${reason}`,
  ].join('');
