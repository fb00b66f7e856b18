/** A stored row as an OpenWOP client gets it: text spliced from columns around the payload, which is never parsed. */
import { isoTime } from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';
import { endsRun } from '../run-index.ts';
import { jsonText } from './json-text.ts';
import type { Lens } from './lens.ts';

/** The columns an event document shows. */
export type ShownRow = Pick<Row, 'runId' | 'seq' | 'at' | 'type' | 'nodeId' | 'cause' | 'payload'>;

/** The JSON text of a RunEventDoc. */
export const docText = (row: ShownRow): string => spliced(row, row.payload, isoTime(row.at), row.type);

/** One SSE frame of a row, under its own name or another. */
export const sseFrame = (row: ShownRow, timestamp = isoTime(row.at), name = row.type): string =>
  `id: ${row.seq}\nevent: ${name}\ndata: ${lineOf(row, timestamp, name)}\n\n`;

/** One row as a lens shows it under this name: its frame, or the document alone on one line. */
export const shownText = (row: ShownRow, name: string, form: Lens['form'], timestamp: string): string =>
  form === 'frames' ? sseFrame(row, timestamp, name) : lineOf(row, timestamp, name);

/** What a reader is shown of some rows. */
export interface Shown {
  readonly text: string;
  /** seq of the newest row in the text; -1 when there is none. */
  readonly upTo: number;
  /** Something in it is waited for: it must not be held back for a batch. */
  readonly urgent: boolean;
}

/** What a lens shows of many rows, as one text. */
export function shownOf(rows: readonly ShownRow[], lens: Lens): Shown {
  const instants = new Instants();
  let text = '';
  let upTo = -1;
  let urgent = false;
  for (const row of rows) {
    const name = lens.nameOf(row.type);
    if (name === null) continue;
    if (text !== '' && lens.form === 'documents') text += ',';
    text += shownText(row, name, lens.form, instants.textOf(row.at));
    upTo = row.seq;
    urgent ||= isUrgent(row.type);
  }
  return { text, upTo, urgent };
}

/** A run that stops or waits for somebody: who follows it has to act, or to stop. */
export const isUrgent = (type: string): boolean => type === 'node.suspended' || endsRun(type);

/** Instants as text. Rows of one second share the work of its date: a third of the cost of a frame. */
export class Instants {
  #second = Number.NaN;
  #date = '';
  #at = Number.NaN;
  #text = '';

  textOf(at: number): string {
    if (at === this.#at) return this.#text;
    const second = Math.floor(at / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = isoTime(at).slice(0, -4);
    }
    this.#at = at;
    this.#text = `${this.#date}${String(at - second * 1_000).padStart(3, '0')}Z`;
    return this.#text;
  }
}

/** A document on one line. A line break in a JSON text can only lie between two tokens, where a space says the same. */
function lineOf(row: ShownRow, timestamp: string, name: string): string {
  const payload = lineBreak.test(row.payload) ? row.payload.replaceAll(lineBreaks, ' ') : row.payload;
  return spliced(row, payload, timestamp, name);
}

function spliced({ runId, seq, nodeId, cause }: ShownRow, payload: string, timestamp: string, type: string): string {
  const node = nodeId === null ? '' : `,"nodeId":${jsonText(nodeId)}`;
  // Run ids need no escaping; a cause elsewhere is another host's text.
  const causation = typeof cause === 'number' ? `"${runId}:${cause}"` : cause === null ? null : JSON.stringify(cause);
  const caused = causation === null ? '' : `,"causationId":${causation}`;
  return `{"eventId":"${runId}:${seq}","runId":"${runId}","type":${jsonText(type)},"payload":${payload},"timestamp":"${timestamp}","sequence":${seq}${node}${caused}}`;
}

const lineBreak = /[\r\n]/;
const lineBreaks = /[\r\n]/g;
