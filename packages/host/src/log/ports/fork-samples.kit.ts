/** Forks and a run to fork, shared by the contract suites; not shipped. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { ForkRun, RunFork } from './event-log.ts';
import type { NewRow, Row } from './rows.ts';
import { asked, resolved, row, runA, started } from './samples.kit.ts';

export const fork1 = 'run_f1' as RunId;
export const fork2 = 'run_f2' as RunId;
export const apart = 'ctx_fork' as ContextId;
export const third = 'ctx_third' as ContextId;

export const forkOf = (sourceRunId: RunId, fromSeq: number, fields: Partial<ForkRun & RunFork> = {}): ForkRun => {
  const { mode = 'branch', ...rest } = fields;
  const identity = { runId: fork1, tenant: 't', contextId: apart, originRunId: runA, at: 9_000 };
  return { ...identity, fork: { sourceRunId, fromSeq, mode }, ...rest };
};

/** Ten rows: operator rows at 1, 4 and 7, a question at 5 that is answered at 8. */
export const ten: readonly NewRow[] = [
  started(),
  row('a', { audience: 'operator', payload: '{"n":1}' }),
  row('b', { payload: '{"n":2}', task: '"two"', cause: 0 }),
  row('c', { payload: '{"n":3}', nodeId: 'n' }),
  row('d', { audience: 'operator', payload: '{"n":4}' }),
  asked('q1'),
  row('e', { payload: '{"n":6}' }),
  row('f', { audience: 'operator', payload: '{"n":7}' }),
  resolved('q1'),
  row('g', { payload: '{"n":9}' }),
];

/** What stays the same in a fork. */
export const shared = ({ runId, contextId, ...rest }: Row) => rest;

export const seqs = (rows: readonly Row[]): readonly number[] => rows.map(({ seq }) => seq);

/** The ports that a fork concerns. */
export type Forks = 'log' | 'changes' | 'runIndex' | 'contexts' | 'queue';
