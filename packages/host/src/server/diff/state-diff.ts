/** The difference of two states: what the runs hold at their last event, and what they used. */
import {
  type DiffRoom,
  fieldChanges,
  type JsonObject,
  type OwnIds,
  type RunDiff,
  type RunView,
  runSnapshot,
  type Slices,
  type ValueChange,
} from '@cairn/protocol';
import type { DiffRun } from './read-sides.ts';

type StateDiff = Omit<RunDiff['stateDiff'], 'cairn'>;

const compared = ['variables', 'channels', 'inputs', 'outputs', 'error'] as const;

/** The parts of two snapshots that differ. Snapshots mask sensitive values. */
export function* stateDiff(
  one: RunView,
  other: RunView,
  options: { readonly ids: OwnIds; readonly room: DiffRoom },
): Slices<StateDiff> {
  const [a, b] = [runSnapshot(one), runSnapshot(other)];
  const parts: (readonly [string, readonly ValueChange[]])[] = [];
  for (const name of compared) {
    const [left, right] = [a[name] ?? {}, b[name] ?? {}] as const;
    parts.push([name, yield* fieldChanges(left as JsonObject, right as JsonObject, options)]);
  }
  return {
    ...(a.status !== b.status && { status: { a: a.status, b: b.status } }),
    ...Object.fromEntries(parts.filter(([, changes]) => changes.length > 0)),
  };
}

/** A branch did nothing between the cut and the fork. */
function durationOf({ view: { startedAt, endedAt, lastAt, gapMs = 0 } }: DiffRun): number {
  return Math.max(0, (endedAt ?? lastAt) - (startedAt ?? lastAt) - gapMs);
}

/** What both runs were and used, equal or not. */
export function totals(a: DiffRun, b: DiffRun): RunDiff['stateDiff']['cairn']['totals'] {
  const both = (of: (run: DiffRun) => number) => ({ a: of(a), b: of(b) });
  return {
    status: { a: a.view.status, b: b.view.status },
    events: both(({ head }) => head.seq + 1),
    durationMs: both(durationOf),
    inputTokens: both(({ view }) => view.usage.inputTokens),
    outputTokens: both(({ view }) => view.usage.outputTokens),
    costUsd: both(({ view }) => view.usage.costUsd),
    modelCalls: both(({ view }) => view.usage.calls),
    toolCalls: both(({ view }) => view.toolCallCount),
  };
}
