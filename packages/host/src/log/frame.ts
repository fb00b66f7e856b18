/** A stored row as an OpenWOP client gets it: text spliced from columns around the payload, which is never parsed. */
import { isoTime } from '@cairn/protocol';
import type { Row } from './port.ts';

/** The columns an event document shows. */
export type ShownRow = Pick<Row, 'runId' | 'seq' | 'at' | 'type' | 'nodeId' | 'cause' | 'payload'>;

/** The JSON text of a RunEventDoc. */
export const docText = (row: ShownRow): string => spliced(row, row.payload, isoTime(row.at));

/** One SSE frame; `timestamp` is the row's instant, for who has it at hand. */
export const sseFrame = (row: ShownRow, timestamp = isoTime(row.at)): string => frame(row, timestamp);

/** The frames of many rows as one text. Rows of one second share the work of its date: a third of the cost of a frame. */
export function sseFrames(rows: readonly ShownRow[]): string {
  let second = Number.NaN;
  let date = '';
  let text = '';
  for (const row of rows) {
    const its = Math.floor(row.at / 1_000);
    if (its !== second) {
      second = its;
      date = isoTime(row.at).slice(0, -4);
    }
    text += frame(row, `${date}${String(row.at - second * 1_000).padStart(3, '0')}Z`);
  }
  return text;
}

/** A line break in a JSON text can only lie between two tokens, where a space says the same. */
function frame(row: ShownRow, timestamp: string): string {
  const payload = lineBreak.test(row.payload) ? row.payload.replaceAll(lineBreaks, ' ') : row.payload;
  return `id: ${row.seq}\nevent: ${row.type}\ndata: ${spliced(row, payload, timestamp)}\n\n`;
}

function spliced({ runId, seq, type, nodeId, cause }: ShownRow, payload: string, timestamp: string): string {
  const node = nodeId === null ? '' : `,"nodeId":${JSON.stringify(nodeId)}`;
  const causation = typeof cause === 'number' ? `${runId}:${cause}` : cause;
  const caused = causation === null ? '' : `,"causationId":${JSON.stringify(causation)}`;
  return `{"eventId":"${runId}:${seq}","runId":"${runId}","type":${JSON.stringify(type)},"payload":${payload},"timestamp":"${timestamp}","sequence":${seq}${node}${caused}}`;
}

const lineBreak = /[\r\n]/;
const lineBreaks = /[\r\n]/g;
