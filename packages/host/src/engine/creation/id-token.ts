/** The token of a run in the ids of its payloads. */
import type { RunId } from '@cairn/protocol';
import type { Sha256 } from '../ports.ts';

/** The id of a child is its parent's with its place below it, so the token follows from the root and the path to it. */
export const idTokenOf = (id: RunId, sha256: Sha256): string => sha256(id, 'hex').slice(0, ID_TOKEN_CHARS);

/** 48 bits: two of 10,000 runs in one context share a token with a chance of 1 in 5 million. */
const ID_TOKEN_CHARS = 12;
