/** Reads rows whose large values are stored apart. Rows that hold the same value share it. */
import { hash } from 'node:crypto';
import { type ContextId, isJsonObject, type Json, type RunId } from '@cairn/protocol';
import { utf8Size } from '../../../utf8.ts';
import { ROW_OVERHEAD_BYTES } from '../../ports/row-bytes.ts';
import type { Row } from '../../ports/rows.ts';
import { type EventColumns, rowOf } from '../columns.ts';
import type { Cuts } from './large-values.ts';
import type { FindValue, LargeValue } from './shared-values.ts';

/** Turns the columns of an event into a row with whole texts. */
export type ToRow = (runId: RunId, contextId: ContextId, columns: EventColumns) => Row;

export function rowReader(find: FindValue): ToRow {
  return (runId, contextId, columns) => {
    const row = rowOf(runId, contextId, columns);
    const missing = columns[11];
    if (missing === null) return row;
    const [inPayload, inTask]: readonly [Cuts, Cuts] = JSON.parse(missing);
    const { payload, task } = row;
    return new RowOfValues(row, {
      // An empty payload was not read.
      payload: { kept: payload, values: payload === '' ? [] : placed(inPayload, find) },
      task: task === null ? null : { kept: task, values: placed(inTask, find) },
    });
  };
}

interface PlacedValue {
  /** In the kept text. */
  readonly place: number;
  readonly value: LargeValue;
}

function placed(cuts: Cuts, find: FindValue): readonly PlacedValue[] {
  const values: PlacedValue[] = [];
  for (let i = 0; i < cuts.length; i += 2) values.push({ place: cuts[i] ?? 0, value: find(cuts[i + 1] ?? 0) });
  return values;
}

/** A text, and the values that are missing in it. */
interface CutText {
  readonly kept: string;
  readonly values: readonly PlacedValue[];
}

/** A class, because a copy with another payload must not take along what this row knows of its own. */
class RowOfValues implements Row {
  readonly runId: Row['runId'];
  readonly seq: number;
  readonly contextId: Row['contextId'];
  readonly cursor: number;
  readonly at: number;
  readonly type: string;
  readonly nodeId: string | null;
  readonly cause: Row['cause'];
  readonly audience: Row['audience'];
  readonly payload: string;
  readonly task: string | null;
  readonly face: number;
  readonly rowHash: string;
  readonly hash: string;
  readonly #payload: CutText;
  readonly #task: CutText | null;

  constructor(row: Row, { payload, task }: { readonly payload: CutText; readonly task: CutText | null }) {
    this.runId = row.runId;
    this.seq = row.seq;
    this.contextId = row.contextId;
    this.cursor = row.cursor;
    this.at = row.at;
    this.type = row.type;
    this.nodeId = row.nodeId;
    this.cause = row.cause;
    this.audience = row.audience;
    this.payload = whole(payload);
    this.task = task === null ? null : whole(task);
    this.face = row.face;
    this.rowHash = row.rowHash;
    this.hash = row.hash;
    this.#payload = payload;
    this.#task = task;
  }

  get bytes(): number {
    return ROW_OVERHEAD_BYTES + sizeOf(this.#payload) + (this.#task === null ? 0 : sizeOf(this.#task));
  }

  get value(): Json {
    return parsed(this.#payload);
  }
}

/** V8 joins the parts when somebody reads the characters, and not before. */
const whole = (text: CutText): string => filled(text, ({ text }) => text);

function filled({ kept, values }: CutText, textOf: (value: LargeValue, i: number) => string): string {
  let result = '';
  let from = 0;
  for (const [i, { place, value }] of values.entries()) {
    result += kept.slice(from, place) + textOf(value, i);
    from = place;
  }
  return result + kept.slice(from);
}

function sizeOf({ kept, values }: CutText): number {
  let bytes = utf8Size(kept);
  for (const { value } of values) bytes += value.bytes;
  return bytes;
}

/** Parses the text with a mark in the place of each value. No text has a part that is the hash of the whole. */
function parsed(text: CutText): Json {
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
