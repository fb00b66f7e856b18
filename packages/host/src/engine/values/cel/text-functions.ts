/** Functions of texts. Their prices hold for the worst texts, because a text comes from data. */
import { Failure } from './cel-values.ts';
import { type Priced, priced } from './priced.ts';
import { prices } from './prices.ts';

const changed = (text: string): number => prices.object + text.length * prices.character;
const compared = (_: string, part: string): number => prices.object + part.length * prices.copiedCharacter;

/**
 * V8 looks for a text of up to 250 characters in linear time. It compares a longer one from the start at nearly every
 * position if the texts repeat themselves.
 */
export const searchCost = (text: string, part: string): number =>
  prices.object + text.length * prices.searchedCharacter * (1 + part.length / 128);

/** V8 compares backwards at every position. */
const foundLast = (text: string, part: string): number =>
  prices.object + text.length * prices.searchedCharacter * (1 + part.length / 16);

/** At worst the separator occurs everywhere. */
const split = (text: string, separator: string): number =>
  searchCost(text, separator) + (text.length / Math.max(1, separator.length) + 1) * prices.element;

export const textFunctions: Readonly<Record<string, Priced>> = {
  'string.startsWith(string): bool': priced(compared, startsWith),
  'string.endsWith(string): bool': priced(compared, endsWith),
  'string.contains(string): bool': priced(searchCost, (text: string, part: string) => text.includes(part)),
  'string.lowerAscii(): string': priced(changed, (text: string) => text.toLowerCase()),
  'string.upperAscii(): string': priced(changed, (text: string) => text.toUpperCase()),
  'string.trim(): string': priced(changed, (text: string) => text.trim()),
  'string.indexOf(string): int': priced(searchCost, (text: string, part: string) => BigInt(text.indexOf(part))),
  'string.indexOf(string, int): int': priced(searchCost, (text: string, part: string, from: bigint) =>
    part === '' ? from : BigInt(text.indexOf(part, position(text, from))),
  ),
  'string.lastIndexOf(string): int': priced(foundLast, (text: string, part: string) => BigInt(text.lastIndexOf(part))),
  'string.lastIndexOf(string, int): int': priced(foundLast, (text: string, part: string, from: bigint) =>
    part === '' ? from : BigInt(text.lastIndexOf(part, position(text, from))),
  ),
  'string.substring(int): string': priced(
    (text: string) => prices.object + text.length * prices.copiedCharacter,
    (text: string, from: bigint) => text.substring(position(text, from, 1)),
  ),
  'string.substring(int, int): string': priced(
    (text: string) => prices.object + text.length * prices.copiedCharacter,
    (text: string, from: bigint, to: bigint) => {
      if (to < from) throw new Failure('an index is out of range');
      return text.substring(position(text, from, 1), position(text, to, 1));
    },
  ),
  'string.split(string): list<string>': priced(split, (text: string, separator: string) => text.split(separator)),
  'string.split(string, int): list<string>': priced(split, limitedSplit),
  'list<string>.join(): string': priced(joined, (list: readonly unknown[]) => join(list, '')),
  'list<string>.join(string): string': priced(joined, join),
};

/** V8 compares slices by blocks of memory, but the characters of `startsWith` and `endsWith` one by one. */
function startsWith(text: string, part: string): boolean {
  return text.slice(0, part.length) === part;
}

function endsWith(text: string, part: string): boolean {
  return part.length <= text.length && text.slice(text.length - part.length) === part;
}

/** `extra` is 1 where the index may be just behind the text. */
function position(text: string, index: bigint, extra: 0 | 1 = 0): number {
  if (index >= 0n && index < text.length + extra) return Number(index);
  throw new Failure('an index is out of range');
}

function limitedSplit(text: string, separator: string, limit: bigint): readonly string[] {
  if (limit === 0n) return [];
  const parts = text.split(separator);
  if (limit < 0n || parts.length <= limit) return parts;
  const kept = Number(limit) - 1;
  return [...parts.slice(0, kept), parts.slice(kept).join(separator)];
}

function joined(list: readonly unknown[], separator = ''): number {
  let characters = separator.length * list.length;
  for (const item of list) if (typeof item === 'string') characters += item.length;
  return prices.object + list.length * prices.object + characters * prices.copiedCharacter;
}

function join(list: readonly unknown[], separator: string): string {
  if (list.every((item) => typeof item === 'string')) return list.join(separator);
  throw new Failure('join() needs a list of strings');
}
