/** Parses JSON files of a pack. Rejects JSON that cannot be walked recursively or encoded as UTF-8. */
import type { Json } from '@cairn/protocol';

/** Schemas, hashes and checks walk the value recursively. */
const MAX_DEPTH = 100;

/** Throws an Error whose message states the problem. */
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

/** The message of an error, for use in another error. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
