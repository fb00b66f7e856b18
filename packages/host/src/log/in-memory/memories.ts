/** In-memory agent memories. The search scans every entry. */
import type { Memories, MemoryRecord } from '../ports/memories.ts';
import { type Phrase, phrasesIn, wordsIn } from '../search-words.ts';
import type { KeptEntry } from './memory-table.ts';
import type { Tables } from './tables.ts';

export const inMemoryMemories = (tables: Tables): Memories => ({
  list: async (query) => {
    tables.assertOpen();
    return tables.memories.visible(query).slice(0, query.limit).map(recordOf);
  },
  get: async (query, id) => {
    tables.assertOpen();
    const found = tables.memories.visible(query).find(({ memoryId }) => memoryId === id);
    return found === undefined ? null : recordOf(found);
  },
  search: async (query, text) => {
    tables.assertOpen();
    const visible = tables.memories.visible(query).map((kept) => ({ kept, words: wordsIn(kept.content), score: 0 }));
    for (const phrase of phrasesIn(text)) {
      const hits = visible.filter(({ words }) => holds(words, phrase));
      // A rare word scores higher than a common one.
      for (const hit of hits) hit.score += Math.log(1 + visible.length / hits.length);
    }
    const best = visible.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
    return best.slice(0, query.limit).map(({ kept }) => recordOf(kept));
  },
});

const holds = (words: readonly string[], phrase: Phrase): boolean =>
  words.some((_, start) => phrase.every((word, i) => words[start + i] === word));

const recordOf = ({ memoryId, content, tags, at, expiresAt }: KeptEntry): MemoryRecord => ({
  id: memoryId,
  content,
  tags,
  createdAt: at,
  expiresAt,
});
