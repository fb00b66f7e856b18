/** Rows as task events: the stored face with the envelope spliced in. Nothing is parsed or serialised again. */
import { isInternalKind, type TaskEvent } from '@cairn/protocol';
import { lineText } from '../feed/frame.ts';
import { jsonText } from '../feed/json-text.ts';
import type { Lens } from '../feed/lens.ts';
import type { Row } from '../ports/rows.ts';
import { coalesced } from './coalesce.ts';
import { kindOf } from './face-columns.ts';
import { isRawShown, parentOf, shownKind, type TaskFilter, type TaskStreamFilter } from './task-filter.ts';

/** A task event as JSON on one line. Only for a row that has a face. */
export function taskEventText(row: Row, timestamp: string): string {
  const { task, contextId, runId, cursor, seq } = row;
  const face = (task ?? '{}').slice(0, -1);
  const parent = parentOf(row);
  const below = parent === null ? '' : `,"parentTaskId":"${parent}"`;
  // Run ids need no escaping. A line break in a JSON text can only lie between two tokens.
  const text = lineBreak.test(face) ? face.replaceAll(lineBreaks, ' ') : face;
  return `${text},"contextId":${jsonText(contextId)},"taskId":"${runId}","timestamp":"${timestamp}","cursor":${cursor},"eventId":"${runId}:${seq}"${below}}`;
}

/**
 * The task event of a row, as its text says it, for those who read it here: no text is made for them. This host wrote the
 * face, or checked it when it was imported. Many readers of one context take the same rows, one after the other, and share
 * what was parsed of the newest ones: they must not change it.
 */
export function taskEventOf(row: Row, timestamp: string): TaskEvent {
  const place = row.cursor % SHARED_EVENTS;
  const known = shared[place];
  if (known?.row === row) return known.event;
  const event = parsedEvent(row, timestamp);
  if (row.task !== null && row.task.length <= MAX_SHARED_CHARS) shared[place] = { row, event };
  return event;
}

/** A view takes at most half as many rows before the next one has its turn. */
const SHARED_EVENTS = 256;
/** A larger face is parsed for each reader, so that few bytes are held. */
const MAX_SHARED_CHARS = 2_048;
const shared: { readonly row: Row; readonly event: TaskEvent }[] = [];

function parsedEvent(row: Row, timestamp: string): TaskEvent {
  const { task, contextId, runId, cursor, seq } = row;
  const event = JSON.parse(task ?? '{}');
  const parent = parentOf(row);
  event.contextId = contextId;
  event.taskId = runId;
  event.timestamp = timestamp;
  event.cursor = cursor;
  event.eventId = `${runId}:${seq}`;
  if (parent !== null) event.parentTaskId = parent;
  return event;
}

const lineBreak = /[\r\n]/;
const lineBreaks = /[\r\n]/g;

/** The name of an SSE frame drops the prefix of internal kinds; its data keeps it. */
const frameName = (kind: string): string => (isInternalKind(kind) ? kind.slice('internal:'.length) : kind);

const taskFrame = (row: Row, name: string, timestamp: string): string =>
  `id: ${row.cursor}\nevent: ${frameName(name)}\ndata: ${taskEventText(row, timestamp)}\n\n`;

/** A row that is no task event, as the log has it. */
export const rawEventText = (row: Row, timestamp: string): string =>
  `{"cursor":${row.cursor},"contextId":${jsonText(row.contextId)},${lineText(row, row.type, timestamp).slice(1)}`;

const frameOf = (row: Row, name: string, timestamp: string): string =>
  row.task === null || kindOf(row.face) === null
    ? `id: ${row.cursor}\nevent: ${name}\ndata: ${rawEventText(row, timestamp)}\n\n`
    : taskFrame(row, name, timestamp);

/** Task events that a filter shows, in frames of their own. */
export function taskLens(filter: TaskFilter | TaskStreamFilter): Lens {
  const { kinds, excludeKinds, thoughtTypes, ...rest } = filter;
  const sets = [
    kinds === null ? null : [...kinds].sort(),
    [...excludeKinds].sort(),
    thoughtTypes && [...thoughtTypes].sort(),
  ];
  return {
    key: `tasks ${JSON.stringify([rest, sets])}`,
    face: filter.debug ? 'any' : 'task',
    nameOf: filter.debug
      ? (type, row) => shownKind(filter, row) ?? (isRawShown(filter, row) ? type : null)
      : (_, row) => shownKind(filter, row),
    render: filter.debug ? frameOf : taskFrame,
    separator: '',
    ...('coalesce' in filter && filter.coalesce && { condensed: condensedBy(filter) }),
  };
}

const condensedBy =
  (filter: TaskFilter): NonNullable<Lens['condensed']> =>
  (rows) =>
    coalesced(rows, (row) => shownKind(filter, row) ?? (isRawShown(filter, row) ? row.type : null));
