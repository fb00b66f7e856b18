/** The marker that replaces secrets, and the core of a secret to search for, so that no marker can complete it again. */

import { spellings } from './encodings.ts';

/** A secret value, and its name for the operator. */
export interface KnownSecret {
  readonly name: string;
  readonly value: string;
}

/** Shorter values would match unrelated text. */
const MIN_SECRET_LENGTH = 8;

/** The same for every secret: a name or a length would tell a guesser which secret it found. */
export const MARKER = '[REDACTED]';

/**
 * The text without a suffix that a marker begins with and without a prefix that a marker ends with. A search for this
 * core finds the whole secret. It also finds a secret that an adjacent marker would complete again.
 */
export function coreOf(text: string): string {
  if (!/[[\]]/.test(text)) return text;
  let core = text;
  for (let before = ''; before !== core; ) {
    before = core;
    core = core.slice(overlap(MARKER, core));
    core = core.slice(0, core.length - overlap(core, MARKER));
  }
  return core;
}

/** Length of the longest suffix of `left` that is a prefix of `right`. */
function overlap(left: string, right: string): number {
  for (let length = Math.min(left.length, right.length); length > 0; length--) {
    if (left.endsWith(right.slice(0, length))) return length;
  }
  return 0;
}

/** Returns the first secret that cannot be redacted, with the reason, or null. Never repeats the value. */
export function unredactable(secrets: readonly KnownSecret[]): { readonly name: string; readonly why: string } | null {
  for (const { name, value } of secrets) {
    const why = reason(value.trim());
    if (why !== null) return { name, why };
  }
  return null;
}

function reason(value: string): string | null {
  const { length } = value;
  if (length < MIN_SECRET_LENGTH) return `has ${length} characters; it needs at least ${MIN_SECRET_LENGTH}`;
  if (!value.isWellFormed()) return 'holds half of a surrogate pair';
  if (value.includes(MARKER)) return `holds ${MARKER}, which marks a secret that was taken out`;
  if (coreOf(value).length < MIN_SECRET_LENGTH) {
    return `has fewer than ${MIN_SECRET_LENGTH} characters beside those that the marker begins and ends with`;
  }
  const isInMarker = [...spellings(value)].some((spelling) => MARKER.includes(coreOf(spelling)));
  return isInMarker ? 'is a part of what stands in the place of a secret' : null;
}
