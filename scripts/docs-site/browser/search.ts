/** Finds sections of the documentation by the beginnings of words. */

/** One section: address with anchor, title of its page, its heading, its text. */
export type Entry = readonly [address: string, title: string, heading: string, text: string];

export interface Found {
  readonly entry: Entry;
  /** A piece of the text around the first word that was found. */
  readonly excerpt: string;
}

const MAX_FOUND = 12;
const MAX_WORDS = 8;
const EXCERPT = 140;

/** The words that a search looks for. Error codes and names with dots are one word. */
export const wordsOf = (query: string): readonly string[] =>
  (query.toLowerCase().match(/[\p{L}\p{N}_.]+/gu) ?? []).slice(0, MAX_WORDS);

/** Sections that have every word, in title, heading or text; the best first. */
export function findIn(entries: readonly Entry[], query: string): readonly Found[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return entries
    .map((entry, at) => ({ entry, at, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, MAX_FOUND)
    .map(({ entry }) => ({ entry, excerpt: excerptOf(entry[3], words) }));
}

/** Zero if a word is missing. */
function scoreOf([, title, heading, text]: Entry, words: readonly string[]): number {
  let sum = 0;
  for (const word of words) {
    const score = 12 * rank(title, word) + 8 * rank(heading, word) + rank(text, word);
    if (score === 0) return 0;
    sum += score;
  }
  // The page itself before its sections.
  return heading === title ? sum + 2 : sum;
}

/** 3 for the whole text, 2 for a whole word, 1 for the beginning of one. */
function rank(text: string, word: string): number {
  const lower = text.toLowerCase();
  if (lower === word) return 3;
  let best = 0;
  for (let at = lower.indexOf(word); at >= 0 && best < 2; at = lower.indexOf(word, at + 1)) {
    if (at > 0 && isWord(lower[at - 1])) continue;
    best = isWord(lower[at + word.length]) ? 1 : 2;
  }
  return best;
}

const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character);

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.max(
    0,
    Math.min(...words.map((word) => lower.indexOf(word)).filter((place) => place >= 0), text.length) - 40,
  );
  const start = at === 0 || at >= text.length - 40 ? 0 : text.indexOf(' ', at) + 1;
  const piece = text.slice(start, start + EXCERPT);
  const isCut = start + EXCERPT < text.length;
  return `${start > 0 ? '… ' : ''}${isCut ? `${piece.slice(0, piece.lastIndexOf(' '))} …` : piece}`;
}
