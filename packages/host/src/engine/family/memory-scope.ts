/** Memory scopes: a run shares the memory of its parent run, unless it is isolated. */
import { levelOfRun, type PayloadOf, type RunId, runAbove } from '@cairn/protocol';
import { z } from 'zod';

/** The topmost run that shares the memory, and whether that run is isolated from its parent. */
export type MemoryScope = NonNullable<PayloadOf<'run.started'>['memoryScope']>;

/** The memory isolation that a node may set for its child runs. */
export const memoryScopeIsolation = z.literal('isolated');
export type MemoryScopeIsolation = z.infer<typeof memoryScopeIsolation>;

/** The memory scope of a new child of the run with this state. */
export const scopeBelow = (
  { memoryScope }: { readonly memoryScope: MemoryScope },
  childRunId: RunId,
  isolation: MemoryScopeIsolation | undefined,
): MemoryScope => (isolation === undefined ? memoryScope : { runId: childRunId, isolated: true });

/** A run, and the run that wrote its first row: another one for a fork. */
interface RunOfOrigin {
  readonly runId: RunId;
  readonly originRunId: RunId;
}

/**
 * The memory scope in the first row of a run. A root run has its own. The first row of a fork names a run of the tree
 * that the origin belonged to; the fork shares the memory of the run at the same place of its own tree.
 */
export function memoryScopeOf({ runId, originRunId }: RunOfOrigin, recorded: MemoryScope | undefined): MemoryScope {
  if (recorded === undefined) return { runId, isolated: false };
  return runId === originRunId ? recorded : { ...recorded, runId: atSamePlace(runId, originRunId, recorded.runId) };
}

/** A run whose id names no run so far above is alone, and has its own scope. */
function atSamePlace(runId: RunId, originRunId: RunId, above: RunId): RunId {
  const levels = levelOfRun(originRunId) - levelOfRun(above);
  return levels <= 0 ? runId : (runAbove(runId, levels) ?? runId);
}
