/** Memory scopes: a run shares the memory of its parent run, unless it is isolated. */
import type { PayloadOf, RunId } from '@cairn/protocol';
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

/** The memory scope in the first row of a run. A root run has its own. */
export const memoryScopeOf = (runId: RunId, recorded: MemoryScope | undefined): MemoryScope =>
  recorded ?? { runId, isolated: false };
