/**
 * What a notification says: who wrote, and where. One that goes right behind a commit also brings its rows, so that a node
 * that serves them has nothing to read. Only the database knows their cursors then: it adds them, if the commit wrote
 * what its node says (`schema/tell-function.ts`).
 */
import type { Cause, ContextId, RunId } from '@cairn/protocol';
import { utf8Size } from '../../../utf8.ts';
import type { Commit } from '../../ports/event-log.ts';
import { bodySize, type Row } from '../../ports/rows.ts';
import type { Statement } from '../database.ts';
import type { StoredHead } from '../heads.ts';

/** Postgres takes at most 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_500;

/** Their cursors fit into the rest. */
const MAX_ROWS = 16;

/** What a commit wrote to. */
export type Place = Pick<Commit, 'runId' | 'contextId'>;

type SaidRow = readonly [
  at: number,
  type: string,
  nodeId: string | null,
  cause: Cause | null,
  audience: Row['audience'],
  payload: string,
  task: string | null,
  face: number,
  rowHash: string,
  hash: string,
];

/** Null for places that are too many to say. The cursor before the rows is the newest one of their context. */
type Said = readonly [
  name: string,
  places: readonly (readonly [RunId, ContextId])[] | null,
  rows?: { readonly first: number; readonly rows: readonly SaidRow[] },
  placed?: readonly [before: number, cursors: readonly number[]],
];

/** Rows of one commit to one run. */
export interface News {
  readonly before: number;
  readonly rows: readonly Row[];
}

export interface Heard {
  readonly name: string;
  readonly places: readonly Place[] | null;
  readonly news: News | null;
}

export function say(name: string, places: Iterable<Place>): string {
  const said = JSON.stringify([name, pairs(places)] satisfies Said);
  return utf8Size(said) <= MAX_PAYLOAD_BYTES ? said : JSON.stringify([name, null] satisfies Said);
}

const pairs = (places: Iterable<Place>) =>
  Array.from(places, ({ runId, contextId }): readonly [RunId, ContextId] => [runId, contextId]);

/** A batch, as far as others are told of it. */
interface Told {
  readonly batch: { readonly groups: ReadonlyMap<RunId, ToldGroup> };
  readonly admitted: readonly { readonly rows: readonly Row[] }[];
}

interface ToldGroup {
  readonly runId: RunId;
  readonly head: { readonly record: Pick<Commit, 'contextId'> };
  readonly before: Pick<StoredHead, 'key'> | null;
}

/** The statement that notifies of a batch, to be sent right behind its commit, and of what was written before it. */
export function tell(
  channel: string,
  name: string,
  { batch, admitted }: Told,
  written: readonly Place[] = [],
): Statement {
  const places = [...batch.groups.values()].map(({ runId, head }) => ({ runId, contextId: head.record.contextId }));
  const bare = say(name, new Map([...written, ...places].map((place) => [place.runId, place])).values());
  const [group, other] = batch.groups.values();
  const rows = admitted.flatMap((one) => one.rows);
  const [first, last] = [rows[0], rows.at(-1)];
  const key = group?.before?.key;
  const isAlone = written.length === 0 && other === undefined && key !== undefined && rows.length <= MAX_ROWS;
  if (!isAlone || first === undefined || last === undefined || isTooLarge(rows))
    return { text: NOTIFY, values: [channel, bare] };
  const said = JSON.stringify([name, pairs(places), { first: first.seq, rows: rows.map(saidRow) }] satisfies Said);
  if (utf8Size(said) > MAX_PAYLOAD_BYTES) return { text: NOTIFY, values: [channel, bare] };
  // The database adds the places of the rows.
  return { text: TELL, values: [channel, bare, said.slice(0, -1), key, first.seq, last.seq, last.hash] };
}

/** Large bodies are not rendered to find that out: that took milliseconds, and copies that the collector then took as long for. */
function isTooLarge(rows: readonly Row[]): boolean {
  let size = 0;
  for (const row of rows) size += bodySize(row);
  return size > MAX_PAYLOAD_BYTES;
}

/** The flush of this small transaction is nobody's concern. */
export const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1::text, $2::text)::text";

const TELL = 'SELECT cairn.tell($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::bigint, $7::text)::text';

const saidRow = (row: Row): SaidRow => [
  row.at,
  row.type,
  row.nodeId,
  row.cause,
  row.audience,
  row.payload,
  row.task,
  row.face,
  row.rowHash,
  row.hash,
];

export function hear(text: string): Heard {
  const [name, said, rows, placed] = JSON.parse(text) as Said;
  const places = said?.map(([runId, contextId]) => ({ runId, contextId })) ?? null;
  const [place] = places ?? [];
  if (place === undefined || rows === undefined || placed === undefined) return { name, places, news: null };
  const [before, cursors] = placed;
  return {
    name,
    places,
    news: { before, rows: rows.rows.map((row, n) => rowAt(place, row, [rows.first + n, cursors[n] ?? 0])) },
  };
}

function rowAt({ runId, contextId }: Place, row: SaidRow, [seq, cursor]: readonly [number, number]): Row {
  const [at, type, nodeId, cause, audience, payload, task, face, rowHash, hash] = row;
  return { runId, contextId, seq, cursor, at, type, nodeId, cause, audience, payload, task, face, rowHash, hash };
}
