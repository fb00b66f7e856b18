/** Rows of recorded runs, for tests of the folds. */
import { readdirSync, readFileSync } from 'node:fs';
import { type Cause, type Json, typedEvent } from '@cairn/protocol';
import type { RunRow } from './run-row.ts';

const folder = new URL('../../../../e2e/golden/v0.0.0/', import.meta.url);

interface BundleLine {
  readonly kind: string;
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly nodeId: string | null;
  readonly cause: Cause | null;
  readonly audience: string;
  readonly payload: string;
}

/** The rows of the first run of a story, as an operator sees them or as a client does. */
export function recordedRows(story: string, audience: 'operator' | 'client' = 'operator'): RunRow[] {
  const rows: RunRow[] = [];
  let runs = 0;
  for (const line of readFileSync(new URL(`${story}.jsonl`, folder), 'utf8').split('\n')) {
    if (line === '') continue;
    const read: BundleLine = JSON.parse(line);
    if (read.kind === 'run') runs += 1;
    if (runs > 1) break;
    if (read.kind !== 'row' || (audience === 'client' && read.audience !== 'client')) continue;
    const { seq, at, type, nodeId, cause } = read;
    const payload: Json = JSON.parse(read.payload);
    rows.push(typedEvent({ seq, at, type, nodeId: nodeId ?? undefined, cause: cause ?? undefined, payload }));
  }
  return rows;
}

export const recordedStories: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => name.slice(0, -'.jsonl'.length));

/** A log of any length: the stories one after the other, with fresh sequences, calls and times. */
export function longRun(length: number): RunRow[] {
  const source = ['agent-with-tools', 'newsroom', 'questions', 'task-with-artifacts'].flatMap((story) =>
    recordedRows(story).filter(({ type }) => !type.startsWith('run.')),
  );
  const rows: RunRow[] = [];
  for (let seq = 0; seq < length; seq += 1) {
    const round = Math.floor(seq / source.length);
    const from = source[seq % source.length];
    if (from === undefined) break;
    const payload: Json = JSON.parse(JSON.stringify(from.payload).replaceAll(/(call|int|art)_/g, `$1_${round}_`));
    const cause = typeof from.cause === 'number' && seq > 0 ? Math.max(0, seq - 1 - (from.cause % 7)) : undefined;
    rows.push(
      typedEvent({ seq, at: 1_767_603_600_000 + seq * 20, type: from.type, nodeId: from.nodeId, cause, payload }),
    );
  }
  return rows;
}
