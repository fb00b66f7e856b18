import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { memoryScopeOf } from './memory-scope.ts';

const scope = (runId: string, originRunId: string, above?: string, isolated = false) =>
  memoryScopeOf(
    { runId: runId as RunId, originRunId: originRunId as RunId },
    above === undefined ? undefined : { runId: above as RunId, isolated },
  );

test('a run shares the memory that its first row names, and a root has its own', () => {
  expect(scope('run_a', 'run_a')).toEqual({ runId: 'run_a', isolated: false });
  expect(scope('run_a.0', 'run_a.0', 'run_a')).toEqual({ runId: 'run_a', isolated: false });
});

test('a fork never shares the memory of the tree of its source', () => {
  expect(scope('run_b', 'run_a')).toEqual({ runId: 'run_b', isolated: false });
  // Forked with its tree: the run at the same place of the new tree.
  expect(scope('run_b.0.3', 'run_a.0.3', 'run_a')).toEqual({ runId: 'run_b', isolated: false });
  expect(scope('run_b.0.3', 'run_a.0.3', 'run_a.0', true)).toEqual({ runId: 'run_b.0', isolated: true });
  expect(scope('run_b.0', 'run_a.0', 'run_a.0', true)).toEqual({ runId: 'run_b.0', isolated: true });
  // Forked alone: it is a root.
  expect(scope('run_b', 'run_a.0.3', 'run_a')).toEqual({ runId: 'run_b', isolated: false });
});
