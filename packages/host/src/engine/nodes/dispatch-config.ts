/** The config of `core.dispatch`. */
import { z } from 'zod';
import { type Mapping, mapping } from '../family/mappings.ts';
import { memoryScopeIsolation } from '../family/memory-scope.ts';

/** The maximum number of parallel workers: one event lists all of them at the join. */
export const MAX_FAN_OUT = 256;

/** When parallel workers count as done. */
export const joinPolicies = ['all', 'any', 'settled'] as const;

/** How a node handles a child run that does not complete. */
export const onChildFailure = z.enum(['fail-parent', 'absorb']);

export const dispatchConfig = z
  .strictObject({
    askUserRouting: z.enum(['conversation', 'clarification', 'auto']).optional(),
    workerDispatchModel: z.literal('child-run').optional(),
    fanOutPolicy: z.enum(['sequential', 'reject', 'parallel']).optional(),
    joinPolicy: z
      .enum(joinPolicies)
      .optional()
      .describe('For parallel workers: all must complete, one is enough, or the node waits for all of them.'),
    onChildFailure: onChildFailure
      .optional()
      .describe('What the node does when a worker does not complete and no join policy applies.'),
    iterationCap: z.int().min(1).optional(),
    inputMapping: mapping.optional(),
    outputMapping: mapping.optional(),
    perWorkerInputMappings: z.record(z.string(), mapping).optional(),
    perWorkerOutputMappings: z.record(z.string(), mapping).optional(),
    memoryScopeIsolation: memoryScopeIsolation
      .optional()
      .describe('Workers get a memory scope of their own; by default they share that of this run.'),
  })
  .refine(({ joinPolicy, fanOutPolicy }) => joinPolicy === undefined || fanOutPolicy === 'parallel', {
    path: ['joinPolicy'],
    message: 'is for the fanOutPolicy parallel',
  });

export type DispatchConfig = z.infer<typeof dispatchConfig>;

/** The mapping for this worker, or the default mapping. */
export const mappingFor = (
  perWorker: Readonly<Record<string, Mapping>> | undefined,
  workerId: string,
  usual: Mapping | undefined,
): Mapping => (perWorker !== undefined && Object.hasOwn(perWorker, workerId) ? perWorker[workerId] : usual) ?? {};

/** The variables of this run that workers get and give. */
export function mappedVariables(config: DispatchConfig) {
  const { inputMapping = {}, outputMapping = {}, perWorkerInputMappings = {}, perWorkerOutputMappings = {} } = config;
  return {
    sets: [outputMapping, ...Object.values(perWorkerOutputMappings)].flatMap((mapping) => Object.keys(mapping)),
    reads: [inputMapping, ...Object.values(perWorkerInputMappings)].flatMap((mapping) => Object.values(mapping)),
  };
}
