/** What a run has from the run that started it: one shape, carried whole from the node that asks to the run's first row. */
import type { JsonObject, RunId } from '@cairn/protocol';
import type { NodeContext } from '../workflow/node-type.ts';
import type { Budget } from './account.ts';
import { type Mapping, projected } from './mappings.ts';
import { type MemoryScope, type MemoryScopeIsolation, scopeBelow } from './memory-scope.ts';

/** A child never has more than the run above it: who started that run, what it may use and what is left of it. */
export type Inheritance = {
  readonly configurable: JsonObject;
  readonly principal: string | null;
  readonly toolScopes: readonly string[];
  /** How many runs are above the new one. */
  readonly depth: number;
  /** It goes on when the run above it ends. */
  readonly isDetached: boolean;
  /** What the run above lends it. Left out once the run has ended and given it back: then it is not started again. */
  readonly budget?: Budget;
  /** The agent that wanted it; null where no agent did. */
  readonly agentId: string | null;
  readonly memoryScope: MemoryScope;
};

/** What the performer of children is called with. */
export type ChildRequest = {
  readonly childRunId: RunId;
  readonly workflowId: string;
  readonly inputs: JsonObject;
  /** Inputs that are to have no value, not even the one the workflow would give them. */
  readonly unset: readonly string[];
} & Inheritance;

export interface WantedChild {
  readonly childRunId: RunId;
  readonly workflowId: string;
  readonly inputMapping: Mapping;
  readonly isDetached: boolean;
  readonly agentId: string | null;
  readonly isolation: MemoryScopeIsolation | undefined;
}

export function childRequest(context: NodeContext, wanted: WantedChild): ChildRequest {
  const { childRunId, workflowId, inputMapping, isDetached, agentId, isolation } = wanted;
  const { view, depth, account } = context.state;
  const budget = account.loans[childRunId];
  return {
    childRunId,
    workflowId,
    ...projected(context, inputMapping),
    configurable: handedDown(view.configurable),
    principal: view.owner?.principal ?? null,
    toolScopes: view.toolScopes ?? [],
    depth: depth + 1,
    isDetached,
    ...(budget === undefined ? {} : { budget }),
    agentId,
    memoryScope: scopeBelow(context.state, childRunId, isolation),
  };
}

/** Options of a run that are its children's, too: those that say how agents work, none that say how long the run may. */
const handedDownOptions =
  /^(escalationThreshold|reasoningVerbosity|model|temperature|maxTokens|mockProvider|ai\..+|cairn\.tools)$/;

const handedDown = (configurable: JsonObject | null): JsonObject =>
  Object.fromEntries(Object.entries(configurable ?? {}).filter(([name]) => handedDownOptions.test(name)));
