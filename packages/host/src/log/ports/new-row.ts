/** Makes the rows of this host's own events. Tests parse each of them by the schema of its type. */
import { rowBytes } from './row-bytes.ts';
import type { NewRow } from './rows.ts';

/** A row without what follows from its bodies. */
export type RowFields = Omit<NewRow, 'task' | 'bytes'>;

/** Serialises the task face, and counts the row. `payload` is JSON text already, so that a recorded one is kept as it was. */
export function newRow(fields: RowFields, face: object | null): NewRow & { readonly bytes: number } {
  const { at, type, nodeId, cause, audience, payload } = fields;
  const task = face === null ? null : JSON.stringify(face);
  return { at, type, nodeId, cause, audience, payload, task, bytes: rowBytes({ payload, task }) };
}
