/**
 * Checks the signatures of an agent card. A key counts from two places only: the keys that the user gave for this card,
 * and a key set on the card's own origin, which proves no more than that the host of the card signed it.
 */
import { AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk';
import { isCairnError, isJsonObject, type Json, type JsonObject, thrownText } from '@cairn/protocol';
import { flattenedVerify, importJWK, type JWK } from 'jose';
import type { Egress } from '../egress/egress.ts';
import { fetchDocument } from './fetch-document.ts';
import { fittingKey, keysOfSet, type PublicJwk } from './public-jwk.ts';

export type SignatureState =
  /** The card has no signature. */
  | 'none'
  /** A signature fits a key. */
  | 'valid'
  /** There is a key for a signature, and the signature does not fit it. */
  | 'invalid'
  /** There is no key for any signature that may be used. */
  | 'unverifiable';

export interface CardSignature {
  readonly state: SignatureState;
  readonly reason?: string;
  /** Where the key of a valid signature is from. */
  readonly keyFrom?: 'given' | 'card-host';
  readonly keyId?: string;
}

export interface SignedCard {
  readonly url: string;
  readonly card: JsonObject;
  /** Keys that the user trusts for this card. */
  readonly keys: readonly PublicJwk[];
}

/** Signatures that are looked at. */
const MAX_SIGNATURES = 8;

/** Public-key algorithms alone: a shared secret would let the reader sign. */
const ALGORITHMS = [
  'EdDSA',
  'Ed25519',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];

export async function checkCardSignature(signed: SignedCard, egress: Pick<Egress, 'send'>): Promise<CardSignature> {
  const { signatures } = signed.card;
  if (signatures === undefined || (Array.isArray(signatures) && signatures.length === 0)) return { state: 'none' };
  if (!Array.isArray(signatures)) return { state: 'invalid', reason: 'signatures is not a list' };
  const payload = signedPayload(signed.card);
  if (payload === null) return { state: 'invalid', reason: 'the card is not of the form that is signed' };
  const keySets = fetchedKeySets(egress);
  const found: CardSignature[] = [];
  for (const signature of signatures.slice(0, MAX_SIGNATURES)) {
    const one = await checkOne(signature, { ...signed, payload }, keySets);
    if (one.state === 'valid') return one;
    found.push(one);
  }
  // A wrong signature says more than one that cannot be checked.
  return found.find(({ state }) => state === 'invalid') ?? found[0] ?? { state: 'none' };
}

/** Null for a card that is not of its form, which the library throws at. */
function signedPayload(card: JsonObject): string | null {
  try {
    return Buffer.from(canonicalizeAgentCard(AgentCard.fromJSON(card))).toString('base64url');
  } catch {
    return null;
  }
}

interface Signed extends SignedCard {
  readonly payload: string;
}

async function checkOne(signature: Json, signed: Signed, keySets: KeySets): Promise<CardSignature> {
  if (!isJsonObject(signature) || typeof signature.protected !== 'string' || typeof signature.signature !== 'string')
    return { state: 'invalid', reason: 'a signature has no protected header or no value' };
  const header = headerOf(signature.protected);
  if (header === null) return { state: 'invalid', reason: 'the protected header of a signature is not a JSON object' };
  const { alg, kid } = header;
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg))
    return { state: 'invalid', reason: `its algorithm is none of ${ALGORITHMS.join(', ')}` };
  const keyId = typeof kid === 'string' ? kid.slice(0, 256) : undefined;
  const named = keyId === undefined ? {} : { keyId };
  const key = await keyFor(header, signed, keySets);
  if (!('jwk' in key)) return { state: 'unverifiable', reason: key.reason, ...named };
  try {
    const jws = { payload: signed.payload, protected: signature.protected, signature: signature.signature };
    await flattenedVerify(jws, await importJWK(key.jwk, alg), { algorithms: ALGORITHMS });
    return { state: 'valid', keyFrom: key.from, ...named };
  } catch (error) {
    return { state: 'invalid', reason: thrownText(error).slice(0, 200), ...named };
  }
}

type FoundKey = { readonly jwk: JWK; readonly from: 'given' | 'card-host' } | { readonly reason: string };

async function keyFor(header: JsonObject, { url, keys }: Signed, keySets: KeySets): Promise<FoundKey> {
  const { jku, kid } = header;
  const given = fittingKey(keys, kid);
  if (given !== null) return { jwk: given, from: 'given' };
  // With keys of the user's own, a key that the card's host names would be a way around them.
  if (keys.length > 0) return { reason: 'none of the given keys has its key id' };
  if (typeof jku !== 'string') return { reason: 'no key was given for it, and it names no key set' };
  if (!URL.canParse(jku) || new URL(jku).origin !== new URL(url).origin)
    return { reason: 'its key set is on another origin than the card, so it is not fetched' };
  const set = await keySets(jku);
  if ('reason' in set) return set;
  const jwk = fittingKey(set.keys, kid);
  return jwk === null ? { reason: 'its key set has no key with its id' } : { jwk, from: 'card-host' };
}

type KeySet = { readonly keys: readonly PublicJwk[] } | { readonly reason: string };
type KeySets = (url: string) => Promise<KeySet>;

/** One key set for a card: a card with many signatures must not make its reader fetch many. */
function fetchedKeySets(egress: Pick<Egress, 'send'>): KeySets {
  let only: { readonly url: string; readonly set: Promise<KeySet> } | null = null;
  return (url) => {
    only ??= { url, set: fetchKeySet(url, egress) };
    return only.url === url ? only.set : Promise.resolve({ reason: 'the card names more than one key set' });
  };
}

async function fetchKeySet(url: string, egress: Pick<Egress, 'send'>): Promise<KeySet> {
  try {
    const types = ['application/jwk-set+json', 'application/json'];
    return { keys: keysOfSet((await fetchDocument(egress, { url, what: 'the key set', types })).keys) };
  } catch (error) {
    if (!isCairnError(error)) throw error;
    return { reason: error.message };
  }
}

function headerOf(text: string): JsonObject | null {
  try {
    const header: Json = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isJsonObject(header) ? header : null;
  } catch {
    return null;
  }
}
