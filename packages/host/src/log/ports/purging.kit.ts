/** Purges a tree of runs as the callers of the port do; shared by the contract suites and not shipped. */
import type { RunId } from '@cairn/protocol';
import type { Ports } from './contract.kit.ts';
import type { PurgeStep } from './purges.ts';

type Purging = Ports<'purges'>;

/** Purges a run and the runs below it, as its callers do. Returns the steps. */
export async function purge({ purges }: Purging, runId: RunId, at = 9_000): Promise<readonly PurgeStep[]> {
  await purges.retire(runId, at);
  const steps: PurgeStep[] = [];
  const left = [runId];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (let step = await purges.purgeSome(next); ; step = await purges.purgeSome(next)) {
      steps.push(step);
      left.push(...step.retired);
      if (step.isDone) break;
    }
    await purges.finish(next);
  }
  return steps;
}
