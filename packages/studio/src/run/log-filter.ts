/** Which rows of a log a filter shows. It looks at each row once, however often the list is drawn. */
import type { RunRow } from '../folds/run-row.ts';

/** Positions of rows, cut at a sequence. */
export interface Positions {
  readonly length: number;
  /** The position of the row that is shown at an index; -1 if there is none. */
  at(index: number): number;
  /** The index at which the row with a sequence is shown, or the last one before it. */
  indexOfSeq(seq: number): number;
}

/** `agent.*` all of a family, `tool` all types with the word, `-output.chunk` all but these, `"tide"` what says so. */
export class LogFilter {
  readonly #rows: readonly RunRow[];
  readonly #passes: ((row: RunRow) => boolean) | null;
  readonly #found: number[] = [];
  #looked = 0;

  constructor(rows: readonly RunRow[], text: string) {
    this.#rows = rows;
    this.#passes = text.trim() === '' ? null : passing(text);
  }

  upTo(seq: number): Positions {
    const rows = this.#rows;
    if (this.#passes === null) return positions(rows.length, (index) => index, { rows, seq });
    for (; this.#looked < rows.length; this.#looked += 1) {
      const row = rows[this.#looked];
      if (row !== undefined && this.#passes(row)) this.#found.push(this.#looked);
    }
    return positions(this.#found.length, (index) => this.#found[index] ?? -1, { rows, seq });
  }
}

function positions(
  count: number,
  at: (index: number) => number,
  { rows, seq }: { rows: readonly RunRow[]; seq: number },
): Positions {
  const indexOf = (of: number): number => {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((rows[at(middle)]?.seq ?? Number.POSITIVE_INFINITY) <= of) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  const length = indexOf(seq) + 1;
  return {
    length,
    at: (index) => (index >= 0 && index < length ? at(index) : -1),
    indexOfSeq: (of) => Math.min(indexOf(of), length - 1),
  };
}

/** Text in quotes is looked for in payloads; somebody who types has not closed the last one yet. */
function passing(text: string): (row: RunRow) => boolean {
  const said: RegExp[] = [];
  const types = text.replaceAll(/"([^"]*)(?:"|$)/g, (_, words: string) => {
    if (words !== '') said.push(new RegExp(words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'iu'));
    return ' ';
  });
  const isType = passingType(types);
  return ({ type, payload }) => isType(type) && said.every((words) => says(payload, words));
}

/** Data of others may be nested deeper than the stack is. */
const MAX_DEPTH = 200;

/** Whether a text, a number or a name in it has the words. Makes no text of the whole: payloads may be large. */
function says(value: unknown, words: RegExp, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return words.test(String(value));
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.some((part) => says(part, words, depth + 1));
  return Object.entries(value).some(([name, part]) => words.test(name) || says(part, words, depth + 1));
}

function passingType(text: string): (type: string) => boolean {
  const words = text.split(/[\s,]+/).filter((word) => word !== '' && word !== '-');
  const without = words.filter((word) => word.startsWith('-')).map((word) => matching(word.slice(1)));
  const within = words.filter((word) => !word.startsWith('-')).map(matching);
  const decided = new Map<string, boolean>();
  return (type) => {
    const known = decided.get(type);
    if (known !== undefined) return known;
    const lower = type.toLowerCase();
    const passes =
      !without.some((match) => match(lower)) && (within.length === 0 || within.some((match) => match(lower)));
    decided.set(type, passes);
    return passes;
  };
}

const matching = (word: string): ((type: string) => boolean) => {
  const lower = word.toLowerCase();
  return lower.endsWith('*') ? (type) => type.startsWith(lower.slice(0, -1)) : (type) => type.includes(lower);
};
