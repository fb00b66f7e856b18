/** A long run for tests of Studio. */
import type { ContextId, RunId } from '@cairn/protocol';
import { creation, row } from '../../packages/host/src/log/ports/samples.kit.ts';
import type { Stage } from './stage.ts';

/** A run that has ended after so many events, written into the log at once. */
export async function longRun({ store }: Stage, events: number): Promise<RunId> {
  const runId = 'run_long' as RunId;
  await store.log.append(
    creation(runId, { create: { tenant: 'dev', contextId: 'ctx_long' as ContextId, originRunId: runId } }),
  );
  for (let n = 1; n < events - 1; ) {
    const count = Math.min(2_000, events - 1 - n);
    const ticks = Array.from({ length: count }, (_, i) => row('acme.tick', { payload: `{"n":${n + i}}` }));
    await store.log.append({ runId, rows: ticks });
    n += count;
  }
  await store.log.append({ runId, rows: [row('run.completed')] });
  return runId;
}
