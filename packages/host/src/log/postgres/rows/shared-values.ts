/**
 * Parses the large values of rows once, however many rows hold them. A page of a run that repeats a list of 45,000 parts
 * took the event loop 25 ms and left a megabyte of objects for each row, of which the collector then took as long.
 */
import { hash } from 'node:crypto';
import type { Json } from '@cairn/protocol';
import type { Row } from '../../ports/rows.ts';
import { CopiedRow } from '../../values/copied-row.ts';
import { type PlacedValue, parseCutText } from '../../values/cut-text.ts';
import { LARGE_VALUE_CHARS, largeValues } from '../../values/cut-values.ts';
import { RecentValues } from '../../values/large-value.ts';

export class SharedValues {
  /** By the hash of their text: the table has texts of rows and no keys of values. */
  readonly #recent = new RecentValues<string>();

  /** The same rows. What is parsed of them is parsed when somebody asks, and shares its large values. */
  sharing(rows: readonly Row[]): readonly Row[] {
    return rows.map((row) => (row.payload.length < LARGE_VALUE_CHARS ? row : new SharingRow(row, this)));
  }

  parse(text: string): Json {
    const places = largeValues(text);
    if (places.length === 0) return JSON.parse(text);
    const values: PlacedValue[] = [];
    let kept = '';
    let from = 0;
    for (let i = 0; i < places.length; i += 2) {
      const start = places[i] ?? 0;
      const end = places[i + 1] ?? start;
      kept += text.slice(from, start);
      // A copy: a part of the text would keep all of it.
      const body = Buffer.from(text.slice(start, end));
      const key = hash('sha256', body, 'base64');
      values.push({ place: kept.length, value: this.#recent.find(key, () => body.toString()) });
      from = end;
    }
    return parseCutText({ kept: kept + text.slice(from), values });
  }
}

class SharingRow extends CopiedRow {
  readonly #bytes: number | undefined;
  readonly #values: SharedValues;

  constructor(row: Row, values: SharedValues) {
    super(row);
    this.#bytes = row.bytes;
    this.#values = values;
  }

  get bytes(): number | undefined {
    return this.#bytes;
  }

  get value(): Json {
    return this.#values.parse(this.payload);
  }
}
