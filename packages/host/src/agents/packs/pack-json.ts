/** JSON out of a pack: read as every file of one is, and refused where it could not be walked or written down again. */
import type { Json } from '@cairn/protocol';

/** Schemas, hashes and checks walk it by recursion. */
const MAX_DEPTH = 100;

/** Throws an Error whose message says what is wrong. */
export function packJson(text: string): Json {
  const value = parsed(text);
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} levels deep`);
    const below: unknown[] = [];
    for (const part of level) {
      if (typeof part === 'string' && !part.isWellFormed()) throw halfCharacter();
      if (typeof part !== 'object' || part === null) continue;
      if (!Object.keys(part).every((key) => key.isWellFormed())) throw halfCharacter();
      for (const member of Object.values(part)) below.push(member);
    }
    level = below;
  }
  return value;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON: ${reasonOf(error)}`);
  }
}

const halfCharacter = (): Error => new Error('it has half of a surrogate pair, which no text in UTF-8 can hold');

/** What an error says, for the message of another. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
