/** A JSON text without its large values: joined when its characters are wanted, parsed with values that others share. */
import { hash } from 'node:crypto';
import { isJsonObject, type Json } from '@cairn/protocol';
import { utf8Size } from '../../utf8.ts';
import type { LargeValue } from './large-value.ts';

export interface PlacedValue {
  /** In the kept text. */
  readonly place: number;
  readonly value: LargeValue;
}

/** A text, and the values that are missing in it. */
export interface CutText {
  readonly kept: string;
  readonly values: readonly PlacedValue[];
}

/** V8 joins the parts when somebody reads the characters, and not before. */
export const wholeText = (text: CutText): string => filled(text, ({ text }) => text);

function filled({ kept, values }: CutText, textOf: (value: LargeValue, i: number) => string): string {
  let result = '';
  let from = 0;
  for (const [i, { place, value }] of values.entries()) {
    result += kept.slice(from, place) + textOf(value, i);
    from = place;
  }
  return result + kept.slice(from);
}

/** The size of the whole text in UTF-8. */
export function cutTextSize({ kept, values }: CutText): number {
  let bytes = utf8Size(kept);
  for (const { value } of values) bytes += value.bytes;
  return bytes;
}

/** Parses the text with a mark in the place of each value. No text has a part that is the hash of the whole. */
export function parseCutText(text: CutText): Json {
  const mark = hash('sha256', text.kept);
  const marked: Json = JSON.parse(filled(text, (_, i) => `"${mark}${i}"`));
  return restored(marked, new Map(text.values.map(({ value }, i) => [mark + i, value])));
}

function restored(value: Json, marked: ReadonlyMap<string, LargeValue>): Json {
  if (typeof value === 'string') return marked.get(value)?.value ?? value;
  if (Array.isArray(value)) return value.map((item: Json) => restored(item, marked));
  if (!isJsonObject(value)) return value;
  // A name may be as large as a value.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [marked.get(name)?.value ?? name, restored(member, marked)]),
  );
}
