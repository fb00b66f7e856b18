/** Memory changes as the commit takes them. The database writes the key of the memory in place of `@`. */
import type { MemoryChange } from '../../memory-changes.ts';
import { wordsIn } from '../../search-words.ts';

/** Postgres keeps positions up to this one, and at most 256 of a word. */
const MAX_POSITION = 16_383;

export function memoryChange(change: MemoryChange): Readonly<Record<string, unknown>> {
  const { kind, memoryRef: ref, memoryId: id, seq, turn } = change;
  if (kind === 'dropped') return { kind, ref, id, seq, turn };
  const { content, tags, at, expiresAt } = change;
  return {
    kind,
    ref,
    id,
    seq,
    turn,
    content,
    tags: JSON.stringify(tags),
    at,
    expires: expiresAt,
    words: vectorOf(content),
  };
}

/** A `tsvector` as text. Each word begins with its memory's key, so that every memory has a vocabulary of its own. */
function vectorOf(content: string): string {
  return wordsIn(content)
    .map((word, place) => `${lexeme('@', word)}:${Math.min(place + 1, MAX_POSITION)}`)
    .join(' ');
}

/** Words are letters, digits and marks, so that nothing needs an escape. */
const lexeme = (scope: number | '@', word: string): string => `'${scope}x${word}'`;
