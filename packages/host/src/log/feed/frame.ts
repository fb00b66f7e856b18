/** A stored row as an OpenWOP client gets it: text spliced around the payload, which is never parsed. */
import { isoTime } from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';
import { jsonText } from './json-text.ts';

/** The columns an event document shows. */
export type ShownRow = Pick<Row, 'runId' | 'seq' | 'at' | 'type' | 'nodeId' | 'cause' | 'payload'>;

/** The JSON text of a RunEventDoc. */
export const docText = (row: ShownRow): string => spliced(row, row.payload, isoTime(row.at), row.type);

/** One SSE frame of a row, under its own type or another name. */
export const sseFrame = (row: ShownRow, name = row.type, timestamp = isoTime(row.at)): string =>
  `id: ${row.seq}\nevent: ${name}\ndata: ${lineText(row, name, timestamp)}\n\n`;

/** Formats instants. Rows of one second share its date, which is a third of the cost of a frame. */
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
export function lineText(row: ShownRow, name: string, timestamp: string): string {
  return spliced(
    row,
    hasLineBreak(row.payload) ? row.payload.replaceAll(lineBreaks, ' ') : row.payload,
    timestamp,
    name,
  );
}

/** Two searches for one character take a tenth of the time of a pattern. */
const hasLineBreak = (text: string): boolean => text.includes('\n') || text.includes('\r');

function spliced({ runId, seq, nodeId, cause }: ShownRow, payload: string, timestamp: string, type: string): string {
  const node = nodeId === null ? '' : `,"nodeId":${jsonText(nodeId)}`;
  // Run ids need no escaping; a cause in another run may be the text of another host.
  const causation = typeof cause === 'number' ? `"${runId}:${cause}"` : cause === null ? null : JSON.stringify(cause);
  const caused = causation === null ? '' : `,"causationId":${causation}`;
  return `{"eventId":"${runId}:${seq}","runId":"${runId}","type":${jsonText(type)},"payload":${payload},"timestamp":"${timestamp}","sequence":${seq}${node}${caused}}`;
}

const lineBreaks = /[\r\n]/g;
