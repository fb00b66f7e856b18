/** Counts a death of the process in a decision. */
import type { RunId } from '@cairn/protocol';
import type { Death } from '../../engine/ports.ts';

/** The deaths with one more in a decision of this cause. */
export const withDeath =
  (runId: RunId) =>
  (deaths: readonly Death[], cause: string): readonly Death[] => {
    const same = (death: Death) => death.runId === runId && death.cause === cause;
    const count = (deaths.find(same)?.count ?? 0) + 1;
    return [...deaths.filter((death) => !same(death)), { runId, cause, count }];
  };
