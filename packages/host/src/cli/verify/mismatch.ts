/** How a run can differ from what a checkpoint saw. */
import type { CheckpointedRun } from '../../log/signed-checkpoint/signed-checkpoint.ts';
import type { Verdict } from './verdict.ts';

export const cut = (verdict: Verdict, { runId, seq }: CheckpointedRun, last: number): void =>
  verdict.problem({
    runId,
    seq: last + 1,
    message: `the run was cut: it ends with event ${last}, but the checkpoint saw event ${seq}`,
  });

export const replaced = (verdict: Verdict, { runId, seq }: CheckpointedRun): void =>
  verdict.problem({
    runId,
    seq,
    message: `the history up to event ${seq} was replaced: its hash is not the one that the checkpoint saw`,
  });
