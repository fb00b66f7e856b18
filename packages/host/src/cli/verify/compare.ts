/** Compares the runs of a data folder with a signed checkpoint. */
import { isCairnError } from '@cairn/protocol';
import { type CheckpointedRun, readCheckpoint } from '../../log/signed-checkpoint/signed-checkpoint.ts';
import type { KeptRun, ReadOnlyLog } from '../../log/sqlite/folder/read-only.ts';
import { withLines } from '../bundle-file.ts';
import type { CheckpointFile } from './checkpoint-file.ts';
import { cut, replaced } from './mismatch.ts';
import type { Verdict } from './verdict.ts';

interface Comparison {
  readonly verdict: Verdict;
  readonly against: CheckpointFile;
}

/** Every run of the checkpoint must be here. */
export function compareFolder(log: ReadOnlyLog, { verdict, against }: Comparison): void {
  readProblems(verdict, against, (expected) => {
    const run = log.run(expected.runId);
    if (run !== null) compareWith(log, run, { verdict, expected });
    else
      verdict.problem({
        runId: expected.runId,
        seq: null,
        message: `run ${expected.runId} of the checkpoint is missing`,
      });
  });
}

/** The checkpoint must name the run. */
export function compareRun(log: ReadOnlyLog, run: KeptRun, { verdict, against }: Comparison): void {
  let found = 0;
  readProblems(verdict, against, (expected) => {
    if (expected.runId !== run.runId) return;
    found += 1;
    compareWith(log, run, { verdict, expected });
  });
  if (verdict.compared !== null) verdict.compared = { ...verdict.compared, runs: found };
  if (found > 0) return;
  verdict.problem({ runId: run.runId, seq: null, message: `the checkpoint does not name run ${run.runId}` });
}

function compareWith(
  log: ReadOnlyLog,
  run: KeptRun,
  { verdict, expected }: { readonly verdict: Verdict; readonly expected: CheckpointedRun },
): void {
  if (run.seq < expected.seq) cut(verdict, expected, run.seq);
  else if (log.hashAt(run, expected.seq) !== expected.hash) replaced(verdict, expected);
}

/** Reads a checkpoint to its signature. A checkpoint that does not count is a problem, whatever it says. */
export function readProblems(verdict: Verdict, against: CheckpointFile, use: (run: CheckpointedRun) => void): void {
  try {
    withLines(against.file, (lines) => {
      const { at, publicKey, runs } = readCheckpoint(lines, against.trusted);
      let count = 0;
      for (const run of runs) {
        count += 1;
        use(run);
      }
      verdict.compared = { at, publicKey, runs: count };
    });
  } catch (error) {
    if (!isCairnError(error, 'checkpoint_invalid')) throw error;
    verdict.problem({ runId: null, seq: null, message: error.message });
  }
}
