/** Who remembers together: a run shares the memory of the run that started it, unless it was started apart. */
import type { PayloadOf, RunId } from '@cairn/protocol';
import { z } from 'zod';

/** The run at the top of those that share it, and whether that run was started apart from the one above it. */
export type MemoryScope = NonNullable<PayloadOf<'run.started'>['memoryScope']>;

/** What a node may say of the memory of the runs it starts. */
export const memoryScopeIsolation = z.literal('isolated');
export type MemoryScopeIsolation = z.infer<typeof memoryScopeIsolation>;

/** Of a run that is about to be started by the run of this state. */
export const scopeBelow = (
  { memoryScope }: { readonly memoryScope: MemoryScope },
  childRunId: RunId,
  isolation: MemoryScopeIsolation | undefined,
): MemoryScope => (isolation === undefined ? memoryScope : { runId: childRunId, isolated: true });

/** As the first row of a run says; a root run has its own. */
export const memoryScopeOf = (runId: RunId, recorded: MemoryScope | undefined): MemoryScope =>
  recorded ?? { runId, isolated: false };
