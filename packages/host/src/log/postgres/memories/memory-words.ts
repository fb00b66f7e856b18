/** Memory changes as the commit takes them. The database writes the key of the memory in place of `@`. */
import type { MemoryChange } from '../../memory-changes.ts';
import { type Phrase, wordsIn } from '../../search-words.ts';

/** Postgres keeps positions up to this one. */
const MAX_POSITION = 16_383;

/** A `tsvector` has at most 1 MiB. What follows is not found by search, and still read. */
const MAX_VECTOR_CHARS = 262_144;

export function memoryChange(change: MemoryChange): Readonly<Record<string, unknown>> {
  const { kind, memoryRef: ref, memoryId: id, seq, turn } = change;
  if (kind === 'dropped') return { kind, ref, id, seq, turn };
  const { content, tags, at, expiresAt: expires } = change;
  return { kind, ref, id, seq, turn, content, tags: JSON.stringify(tags), at, expires, words: vectorOf(content) };
}

/** A `tsvector` as text. Each word begins with its memory's key, so that every memory has a vocabulary of its own. */
export function vectorOf(content: string): string {
  const lexemes: string[] = [];
  let chars = 0;
  for (const [place, word] of wordsIn(content).entries()) {
    const text = `${lexeme('@', word)}:${place + 1}`;
    chars += text.length;
    if (place + 1 > MAX_POSITION || chars > MAX_VECTOR_CHARS) break;
    lexemes.push(text);
  }
  return lexemes.join(' ');
}

/** A `tsquery` as text: the words of a phrase, one after the other. */
export const queryOf = (scope: number, phrase: Phrase): string =>
  phrase.map((word) => lexeme(scope, word)).join(' <-> ');

/** Words are letters, digits and marks, so that nothing needs an escape. */
const lexeme = (scope: number | '@', word: string): string => `'${scope}x${word}'`;
