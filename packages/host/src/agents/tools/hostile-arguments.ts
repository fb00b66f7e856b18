/** Rejects dangerous arguments from a model, whatever the schema of the tool allows. */
import type { Json } from '@cairn/protocol';

/** Schemas, redaction and the log walk arguments recursively. */
const MAX_DEPTH = 100;

/**
 * Returns why the arguments are rejected before validation, or null. Keys that reach into prototypes would harm a tool
 * that merges its arguments carelessly. `constructor` counts only where it leads to a `prototype`.
 */
export function hostileArguments(value: Json): string | null {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `they are nested more than ${MAX_DEPTH} levels deep`;
    const below: Json[] = [];
    for (const part of level) {
      // JSON.parse reads a number beyond the range as infinity, which no JSON can write.
      if (typeof part === 'number' && !Number.isFinite(part)) return 'they have a number that is too large';
      if (typeof part !== 'object' || part === null) continue;
      if (Object.hasOwn(part, '__proto__')) return 'the key "__proto__" is not taken';
      if (Object.hasOwn(part, 'constructor') && hasPrototype((part as { constructor?: unknown }).constructor)) {
        return 'the key "constructor.prototype" is not taken';
      }
      for (const member of Object.values(part)) below.push(member);
    }
    level = below;
  }
  return null;
}

const hasPrototype = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
