/** Forks of forks have an end. */
import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { MAX_SHARED_RUNS } from '../../log/ports/event-log.ts';
import { creation, runA, started } from '../../log/ports/samples.kit.ts';
import { refuseDeepFork } from './fork-depth.ts';

test('a run can be forked until it is a thousand runs away from the one that was started', async () => {
  const { log } = inMemoryStore();
  await log.append(creation(runA, { rows: [started()] }));
  let last: RunId = runA;
  for (let depth = 1; depth < MAX_SHARED_RUNS; depth += 1) {
    const runId = `run_f${depth}` as RunId;
    const fork = { sourceRunId: last, fromSeq: 0, mode: 'branch' as const };
    const identity = { runId, tenant: 't', contextId: `ctx_${depth}` as never, originRunId: runA, at: 1_000 };
    await log.fork({ ...identity, fork, rows: [started()] });
    if (depth === MAX_SHARED_RUNS - 1) {
      await refuseDeepFork(log, present(await log.head(last)));
      await expect(refuseDeepFork(log, present(await log.head(runId)))).rejects.toMatchObject({ code: 'conflict' });
    }
    last = runId;
  }
});
