/** Splits text into search words. Stored text and queries follow the same rules in every store. */

/** Words that must be adjacent to match. Most phrases have one word; scripts without spaces yield several. */
export type Phrase = readonly string[];

/** Most phrases in one query. The longest win, because short ones occur in every text. */
const MAX_ASKED = 12;

const MAX_WORD = 64;

const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const pieces = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+`, 'gu');
const unspaced = new RegExp(`^[${UNSPACED}]`, 'u');

/** Every word of a text, in order. In a script without spaces, each character is a word. */
export const wordsIn = (text: string): readonly string[] =>
  piecesIn(text).flatMap((piece) => (unspaced.test(piece) ? [...piece] : [word(piece)]));

/** The distinct phrases of a query. */
export function phrasesIn(text: string): readonly Phrase[] {
  const asked = new Map<string, Phrase>();
  for (const piece of piecesIn(text)) {
    for (const phrase of unspaced.test(piece) ? pairs([...piece]) : [[word(piece)]])
      asked.set(phrase.join(' '), phrase);
  }
  return [...asked]
    .sort(([a], [b]) => b.length - a.length)
    .slice(0, MAX_ASKED)
    .map(([, phrase]) => phrase);
}

/** Strips accents and lowercases. */
const piecesIn = (text: string): readonly string[] =>
  text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .match(pieces) ?? [];

const word = (piece: string): string => singular(piece.slice(0, MAX_WORD).toWellFormed());

/** English plurals only, by three simple rules. Both sides must apply the same rules; they need not be perfect. */
function singular(text: string): string {
  if (text.length < 4 || !/^[a-z]+s$/.test(text) || /(us|ss)$/.test(text)) return text;
  if (/[^ae]ies$/.test(text)) return `${text.slice(0, -3)}y`;
  return text.slice(0, -1);
}

const pairs = (characters: readonly string[]): readonly Phrase[] =>
  characters.length === 1 ? [characters] : characters.slice(1).map((next, i) => [characters[i] as string, next]);
