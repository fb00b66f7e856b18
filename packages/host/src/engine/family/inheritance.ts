/** The settings that a child run inherits from its parent, from the requesting node to the child's first row. */
import type { JsonObject, RunId } from '@cairn/protocol';
import type { SealedValues } from '../core/state.ts';
import { branchBelow, type HandedDown } from '../fork/fork-state.ts';
import { sealedIn } from '../sensitive/references.ts';
import type { NodeContext } from '../workflow/node-type.ts';
import type { Budget } from './account.ts';
import { type Mapping, projected } from './mappings.ts';
import { type MemoryScope, type MemoryScopeIsolation, scopeBelow } from './memory-scope.ts';

/** A child never gets more rights or budget than its parent. */
export type Inheritance = {
  readonly configurable: JsonObject;
  readonly principal: string | null;
  readonly toolScopes: readonly string[];
  /** The number of runs above the new one. */
  readonly depth: number;
  /** Whether the child continues when its parent ends. */
  readonly isDetached: boolean;
  /** The parent's loan. Absent once the child has ended and returned it: then the child is not started again. */
  readonly budget?: Budget;
  /** The agent that requested the child; null if none did. */
  readonly agentId: string | null;
  /** The tool call as which the task view shows the node that requested the child. */
  readonly toolCallId?: string;
  readonly memoryScope: MemoryScope;
  /** The agents of the runs above, nearest first: the parent's own, if it has one, and those above it. */
  readonly coordinators: readonly (string | null)[];
  /** The rules and prompts of a branch hold in its whole tree. */
  readonly branch?: HandedDown;
};

/** The input of the child performer. */
export type ChildRequest = {
  readonly childRunId: RunId;
  readonly workflowId: string;
  readonly inputs: JsonObject;
  /** Inputs that must stay unset, without the workflow's default. */
  readonly unset: readonly string[];
  /** The sealed values that the inputs refer to. */
  readonly sealed?: SealedValues;
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
  const { inputs, unset } = projected(context, inputMapping);
  const sealed = sealedIn(inputs, context.state.sealed);
  const branch = branchBelow(context.state.fork);
  const toolCallId = view.nodeStates[context.node.id]?.toolCallId ?? null;
  return {
    childRunId,
    workflowId,
    inputs,
    unset,
    ...(sealed === undefined ? {} : { sealed }),
    configurable: handedDown(view.configurable),
    principal: view.owner?.principal ?? null,
    toolScopes: view.toolScopes ?? [],
    depth: depth + 1,
    isDetached,
    ...(budget === undefined ? {} : { budget }),
    agentId,
    ...(toolCallId === null ? {} : { toolCallId }),
    memoryScope: scopeBelow(context.state, childRunId, isolation),
    coordinators: [coordinatorOf(context, agentId), ...(context.state.coordinators ?? [])],
    ...(branch === undefined ? {} : { branch }),
  };
}

/** The agent that requested the child, else the one that acted last in the parent. Only a pinned agent can be asked. */
function coordinatorOf({ state }: NodeContext, agentId: string | null): string | null {
  const id = agentId ?? state.view.agent?.agentId ?? null;
  return id !== null && Object.hasOwn(state.agents, id) ? id : null;
}

/** The options that a run passes to its children: agent settings, but no limits of the run itself. */
const handedDownOptions =
  /^(escalationThreshold|reasoningVerbosity|model|temperature|maxTokens|mockProvider|ai\..+|cairn\.tools)$/;

export const handedDown = (configurable: JsonObject | null): JsonObject =>
  Object.fromEntries(Object.entries(configurable ?? {}).filter(([name]) => handedDownOptions.test(name)));
