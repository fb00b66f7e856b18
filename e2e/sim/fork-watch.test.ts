import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { ForkRun } from '../../packages/host/src/log/ports/event-log.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { Complaints } from './breach.ts';
import { ForkWatch } from './fork-watch.ts';

const source = 'run_a' as RunId;
const fork = 'run_b' as RunId;
const contextId = 'ctx' as ContextId;

const rowOf = (runId: RunId, seq: number, hash: string): Row => ({
  ...{ runId, seq, contextId, cursor: seq + 1, at: 1, type: 'x', nodeId: null, cause: null, audience: 'client' },
  ...{ payload: '{}', task: null, face: 0, rowHash: hash, hash },
});

function watched(mode: 'replay' | 'branch', hashes: readonly string[]) {
  const complaints = new Complaints();
  const rows: Record<RunId, readonly Row[]> = {
    [source]: ['h0', 'h1', 'h2'].map((hash, seq) => rowOf(source, seq, hash)),
    [fork]: hashes.map((hash, seq) => rowOf(fork, seq, hash)),
  };
  const world = { complain: complaints.complain, count: () => undefined, rowsOf: (runId: RunId) => rows[runId] ?? [] };
  const watch = new ForkWatch(world);
  const asked: ForkRun = {
    ...{ runId: fork, tenant: 't', contextId, originRunId: source, at: 1 },
    fork: { sourceRunId: source, fromSeq: 1, mode },
  };
  watch.asked(asked);
  watch.checkAll();
  return complaints.first?.invariant ?? null;
}

test('a replay that repeats its source keeps the promise, and any other breaks it', () => {
  expect(watched('replay', ['h0', 'h1', 'h2'])).toBeNull();
  expect(watched('replay', ['h0', 'h1'])).toBe('a replay repeats its source');
  expect(watched('replay', ['h0', 'other', 'h2'])).toBe('a replay repeats its source');
});

test('a branch differs from its source only after the cut', () => {
  expect(watched('branch', ['h0', 'other'])).toBeNull();
  expect(watched('branch', ['other', 'h1'])).toBe('a fork shares its beginning');
});
