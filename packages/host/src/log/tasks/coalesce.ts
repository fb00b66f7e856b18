/**
 * Pages of task events for a client that is behind and asked for less: adjacent deltas of a block become one, and
 * progress that a later event of its call replaces is left out. What a client makes of them stays the same.
 */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';

/** Most characters of joined text in one event. */
const MAX_JOINED = 65_536;

/** Rows to show instead of these. The names are the kinds under which they are shown; null hides a row. */
export function coalesced(rows: readonly Row[], kindOf: (row: Row) => string | null): readonly Row[] {
  const stale = staleProgress(rows, kindOf);
  const shown: Row[] = [];
  let block: OpenBlock | undefined;
  for (const row of rows) {
    const kind = kindOf(row);
    if (kind === null || stale.has(row)) continue;
    const face = kind === 'content-delta' ? faceOf(row) : null;
    if (block?.takes(row, face) === true) continue;
    if (block !== undefined) shown.push(block.row());
    block = face === null ? undefined : new OpenBlock(row, face);
    if (face === null) shown.push(row);
  }
  if (block !== undefined) shown.push(block.row());
  return shown;
}

/** Deltas of one block that follow each other. */
class OpenBlock {
  readonly #face: JsonObject;
  #last: Row;
  #text: string;
  #count = 1;

  constructor(first: Row, face: JsonObject) {
    this.#face = face;
    this.#last = first;
    this.#text = String(face.delta);
  }

  /** Takes a delta that goes on where the last one ended. */
  takes(row: Row, face: JsonObject | null): boolean {
    const { contentId, index } = this.#face;
    if (face === null || row.runId !== this.#last.runId || face.contentId !== contentId) return false;
    if (face.index !== Number(index) + this.#count || this.#text.length > MAX_JOINED) return false;
    this.#text += String(face.delta);
    this.#count += 1;
    this.#last = row;
    return true;
  }

  /** The last row, with the whole text and the first index. */
  row(): Row {
    if (this.#count === 1) return this.#last;
    const { kind, delta: _, metadata, ...rest } = this.#face;
    const told = { ...(isJsonObject(metadata) ? metadata : {}), coalesced: this.#count };
    return { ...this.#last, task: JSON.stringify({ kind, delta: this.#text, ...rest, metadata: told }) };
  }
}

/** Progress that later progress of the same call follows. The last one stays: clients show it after the end, too. */
function staleProgress(rows: readonly Row[], kindOf: (row: Row) => string | null): ReadonlySet<Row> {
  const stale = new Set<Row>();
  const replaced = new Set<string>();
  for (const row of rows.toReversed()) {
    if (kindOf(row) !== 'tool-progress') continue;
    const call = `${row.runId} ${String(faceOf(row)?.toolCallId)}`;
    if (replaced.has(call)) stale.add(row);
    replaced.add(call);
  }
  return stale;
}

/** A face from a bundle of another host may be any text. */
function faceOf({ task }: Row): JsonObject | null {
  try {
    const face: Json = JSON.parse(task ?? 'null');
    return isJsonObject(face) ? face : null;
  } catch {
    return null;
  }
}
