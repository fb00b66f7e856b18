/** A stored row as an OpenWOP client gets it: text spliced from columns around the payload, which is never parsed. */
import type { Row } from './port.ts';

/** The columns an event document shows. */
export type ShownRow = Pick<Row, 'runId' | 'seq' | 'at' | 'type' | 'nodeId' | 'cause' | 'payload'>;

/** The JSON text of a RunEventDoc. */
export function docText(row: ShownRow): string {
  const { runId, seq, cause } = row;
  const node = row.nodeId === null ? '' : `,"nodeId":${JSON.stringify(row.nodeId)}`;
  const causation = typeof cause === 'number' ? `${runId}:${cause}` : cause;
  const caused = causation === null ? '' : `,"causationId":${JSON.stringify(causation)}`;
  return `{"eventId":"${runId}:${seq}","runId":"${runId}","type":${JSON.stringify(row.type)},"payload":${row.payload},"timestamp":"${new Date(row.at).toISOString()}","sequence":${seq}${node}${caused}}`;
}

/** One SSE frame. A line break in a JSON text can only lie between two tokens, where a space says the same. */
export function sseFrame(row: ShownRow): string {
  const doc = docText(row);
  const data = lineBreak.test(doc) ? doc.replaceAll(lineBreaks, ' ') : doc;
  return `id: ${row.seq}\nevent: ${row.type}\ndata: ${data}\n\n`;
}

const lineBreak = /[\r\n]/;
const lineBreaks = /[\r\n]/g;
