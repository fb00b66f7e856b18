/** What a run is started with that a node asks for: all that it has from the run above it, in one place. */
import type { JsonObject, RunId } from '@cairn/protocol';
import type { NodeContext } from '../workflow/node-type.ts';
import type { Budget } from './account.ts';
import type { ChildRequest } from './child-performer.ts';
import { type Mapping, projected } from './mappings.ts';
import { type MemoryScopeIsolation, scopeBelow } from './memory-scope.ts';

export interface WantedChild {
  readonly childRunId: RunId;
  readonly workflowId: string;
  readonly inputMapping: Mapping;
  /** It goes on when the run above it ends. */
  readonly isDetached: boolean;
  /** Who wanted it; null where no agent did. */
  readonly agentId: string | null;
  readonly isolation: MemoryScopeIsolation | undefined;
}

/** Who started the run above, what they may use and what is left of it are the child's, too: it never has more. */
export function childRequest(context: NodeContext, wanted: WantedChild): JsonObject {
  const { childRunId, workflowId, inputMapping, isDetached, agentId, isolation } = wanted;
  const { view, depth, account } = context.state;
  const request: ChildRequest = {
    childRunId,
    workflowId,
    ...projected(context, inputMapping),
    configurable: inherited(view.configurable),
    principal: view.owner?.principal ?? null,
    toolScopes: view.toolScopes ?? [],
    depth: depth + 1,
    isDetached,
    budget: account.loans[childRunId] as Budget,
    agentId,
    memoryScope: scopeBelow(context.state, childRunId, isolation),
  };
  return request as unknown as JsonObject;
}

/** Options of a run that are its children's, too: those that say how agents work, none that say how long the run may. */
const handedDown =
  /^(escalationThreshold|reasoningVerbosity|model|temperature|maxTokens|mockProvider|ai\..+|cairn\.tools)$/;

const inherited = (configurable: JsonObject | null): JsonObject =>
  Object.fromEntries(Object.entries(configurable ?? {}).filter(([name]) => handedDown.test(name)));
