/** Parses JSON files of a pack. Rejects JSON that cannot be walked recursively, encoded as UTF-8, or read in two ways. */
import { type Json, quoted } from '@cairn/protocol';
import { repeatedKeyIn } from '../../repeated-key.ts';

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
  const repeated = repeatedKeyIn(text, value);
  // Whoever reviews the file may go by the first one.
  if (repeated !== null) throw new Error(`it has the key ${quoted(repeated, 60)} twice in one object`);
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
