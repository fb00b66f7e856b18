/** The identity of an agent in another system, and what this host found out about it. */
import type { JsonObject } from '@cairn/protocol';
import { canonicalText } from '../../engine/values/canonical.ts';
import { sha256 } from '../compose.ts';
import type { Egress } from '../egress/egress.ts';
import { a2aAgentId, agntcyAgentId, didAgentId } from './agent-ids.ts';
import type { CardSignature } from './card-signature.ts';
import type { PublicJwk } from './public-jwk.ts';
import { resolveCard } from './resolve-card.ts';
import { type DidKey, resolveDid } from './resolve-did.ts';

/** As it is declared. `keys` are JWKs that the user trusts to sign the card. */
export type DeclaredIdentity =
  | { readonly did: string }
  | {
      readonly a2aCard: string;
      readonly keys: readonly PublicJwk[];
      /** Headers of the request for the card alone. */
      readonly headers?: () => Readonly<Record<string, string>>;
    }
  | { readonly agntcy: { readonly gatewayId: string; readonly agentId: string } };

interface Resolved {
  readonly agentId: string;
  /** The SHA-256 of the document in canonical JSON (RFC 8785). */
  readonly documentSha256: string;
  readonly resolvedAt: number;
}

export type Identity =
  | (Resolved & {
      readonly kind: 'did';
      readonly did: string;
      readonly url: string | null;
      readonly keys: readonly DidKey[];
    })
  | (Resolved & {
      readonly kind: 'a2a';
      readonly url: string;
      readonly name: string;
      readonly signature: CardSignature;
    })
  | { readonly kind: 'agntcy'; readonly agentId: string; readonly gatewayId: string; readonly remoteAgentId: string };

export interface IdentityPorts {
  readonly egress: Pick<Egress, 'send'>;
  readonly plainOrigins: ReadonlySet<string>;
  readonly now: () => number;
}

/** Throws a `CairnError` that says what is wrong with the identity or with the answer of its host. */
export async function resolveIdentity(declared: DeclaredIdentity, ports: IdentityPorts): Promise<Identity> {
  if ('did' in declared) {
    const { document, did, url, keys } = await resolveDid(declared.did, ports);
    return { kind: 'did', agentId: didAgentId(did), did, url, keys, ...evidence(document, ports) };
  }
  if ('a2aCard' in declared) {
    const { card, ...found } = await resolveCard({ ...declared, url: declared.a2aCard }, ports.egress);
    return { kind: 'a2a', agentId: a2aAgentId(found.url, found.name), ...found, ...evidence(card, ports) };
  }
  const { gatewayId, agentId } = declared.agntcy;
  return { kind: 'agntcy', agentId: agntcyAgentId(gatewayId, agentId), gatewayId, remoteAgentId: agentId };
}

const evidence = (document: JsonObject, { now }: IdentityPorts) => ({
  documentSha256: sha256(canonicalText(document), 'hex'),
  resolvedAt: now(),
});
