import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { chainHash, chainStart, rowHash } from '../../packages/host/src/log/chain.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { auditTree } from './tree-audit.ts';

const root = 'run_a' as RunId;
const child = 'run_a.0' as RunId;

type Sample = readonly [type: string, at: number, payload?: object];

function chained(runId: RunId, samples: readonly Sample[]): readonly Row[] {
  let previous = chainStart(runId);
  return samples.map(([type, at, payload = {}], seq) => {
    const columns = { seq, contextId: 'ctx_a' as ContextId, at, type, nodeId: null, cause: null };
    const body = { audience: 'client' as const, payload: JSON.stringify(payload), task: null };
    const own = rowHash({ ...columns, ...body });
    previous = chainHash(previous, own);
    return { ...columns, ...body, runId, cursor: seq + 1, face: 0, rowHash: own, hash: previous };
  });
}

const above: readonly Sample[] = [
  ['run.started', 0],
  ['cairn.step.requested', 1, { childRunId: child }],
  ['cairn.cancel.requested', 10],
  ['run.cancelled', 11],
];
const below: readonly Sample[] = [
  ['run.started', 2, { parentRunId: root }],
  ['run.cancelled', 12, { parentRunId: root }],
];

const audited = (upper: readonly Sample[], lower: readonly Sample[], change = (rows: readonly Row[]) => rows) => {
  const runs = new Map([
    [root, chained(root, upper)],
    [child, change(chained(child, lower))],
  ]);
  return auditTree({ root, runs, withinMs: 5_000 });
};

const broken = (...given: Parameters<typeof audited>) => audited(...given).breaches.map(({ promise }) => promise);

test('a tree that ended as it should has nothing against it, and took as long as its last run', () => {
  expect(audited(above, below)).toEqual({ breaches: [], tookMs: 2 });
});

describe('is found out:', () => {
  test('a run that goes on', () => {
    expect(broken(above, below.slice(0, 1))).toEqual(['every run of the tree ends']);
  });

  test('a row after the end', () => {
    expect(broken(above, [...below, ['node.completed', 13]])).toEqual(['nothing follows the end of a run']);
  });

  test('a second end', () => {
    expect(broken(above, [...below, ['run.cancelled', 13, { parentRunId: root }]])).toEqual([
      'nothing follows the end of a run',
    ]);
  });

  test('an end that comes too late', () => {
    const late: readonly Sample[] = [
      ['run.started', 2, { parentRunId: root }],
      ['run.cancelled', 5_011, { parentRunId: root }],
    ];
    expect(broken(above, late)).toEqual(['the whole tree ends in time']);
  });

  test('a run that fails because it is cancelled', () => {
    expect(broken(above, [below[0] as Sample, ['run.failed', 12]])).toEqual(['nothing fails because it is cancelled']);
  });

  test('a run that nobody asked for, and one that is cancelled for another’s sake', () => {
    const [started, , ...rest] = above;
    expect(broken([started as Sample, ...rest], below)).toEqual([
      'every run below the root was asked for by the one above it',
    ]);
    expect(broken(above, [below[0] as Sample, ['run.cancelled', 12, { parentRunId: 'run_b' }]])).toEqual([
      'a run that is cancelled with its parent names it',
    ]);
  });

  test('a row that was changed', () => {
    const change = (rows: readonly Row[]) => rows.map((row, i) => (i === 0 ? { ...row, at: row.at + 1 } : row));
    expect(broken(above, below, change)).toEqual(['the hash chain is valid']);
  });

  test('a cancellation that is not recorded', () => {
    expect(
      broken(
        above.filter(([type]) => type !== 'cairn.cancel.requested'),
        below,
      ),
    ).toContain('a cancellation that was accepted is recorded');
  });
});
