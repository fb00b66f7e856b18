/** Waits for what a log says, and asks it after each commit. */
import type { RunId } from '@cairn/protocol';
import type { Store } from '../../src/log/ports/store.ts';

export async function untilCommit({ log }: Pick<Store, 'log'>, isSo: () => Promise<boolean>): Promise<void> {
  const done = Promise.withResolvers<void>();
  const look = () => void isSo().then((so) => so && done.resolve(), done.reject);
  const stop = log.follow(look);
  look();
  await done.promise;
  stop();
}

export const hasEnded = async ({ log }: Pick<Store, 'log'>, runId: RunId): Promise<boolean> =>
  ((await log.head(runId))?.record.endedAt ?? null) !== null;

/** The open questions of a run; none of one that has not begun. */
export async function openInterrupts({ log, runIndex }: Pick<Store, 'log' | 'runIndex'>, runId: RunId) {
  if ((await log.head(runId)) === null) return [];
  return (await runIndex.interrupts(runId)).filter(({ open }) => open);
}
