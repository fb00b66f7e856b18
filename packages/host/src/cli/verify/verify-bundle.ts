/** Verifies a bundle, and compares its runs with a signed checkpoint. */
import { isCairnError } from '@cairn/protocol';
import type { CheckpointedRun } from '../../log/signed-checkpoint/signed-checkpoint.ts';
import { withBundle } from '../bundle-file.ts';
import type { CheckpointFile } from './checkpoint-file.ts';
import { readProblems } from './compare.ts';
import { cut, replaced } from './mismatch.ts';
import type { Verdict } from './verdict.ts';

export function verifyBundle(file: string, verdict: Verdict, against: CheckpointFile | null): void {
  let runId: string | null = null;
  let seq = 0;
  try {
    const wanted = against === null ? null : wantedRuns(file, verdict, against);
    withBundle(file, (bundle) => {
      verdict.runId = bundle.runId;
      for (const { run, rows } of bundle.runs) {
        runId = run.runId;
        seq = 0;
        verdict.runs += 1;
        verdict.hash ??= run.hash;
        const expected = wanted?.get(run.runId);
        if (expected !== undefined && expected.seq > run.seq) cut(verdict, expected, run.seq);
        for (const row of rows) {
          verdict.row();
          seq = row.seq + 1;
          if (row.payload === null) verdict.retired += 1;
          if (row.seq === expected?.seq && row.hash !== expected.hash) replaced(verdict, expected);
        }
      }
    });
  } catch (error) {
    if (!isCairnError(error, 'bundle_invalid')) throw error;
    verdict.hash = null;
    verdict.problem({ runId, seq: runId === null ? null : seq, message: error.message });
  }
}

/** The runs of the checkpoint that are in the bundle, which is read once for their names. */
function wantedRuns(file: string, verdict: Verdict, against: CheckpointFile): ReadonlyMap<string, CheckpointedRun> {
  const names = withBundle(file, (bundle) => Array.from(bundle.runs, ({ run }) => run.runId as string));
  const inBundle = new Set(names);
  const wanted = new Map<string, CheckpointedRun>();
  readProblems(verdict, against, (run) => {
    if (inBundle.has(run.runId)) wanted.set(run.runId, run);
  });
  const [top] = names;
  if (top !== undefined && !wanted.has(top))
    verdict.problem({ runId: top, seq: null, message: `the checkpoint does not name run ${top}` });
  if (verdict.compared !== null) verdict.compared = { ...verdict.compared, runs: wanted.size };
  return wanted;
}
