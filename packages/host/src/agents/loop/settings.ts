/** What a run, a node and a manifest say about how an agent works; the run comes first, then the node. */
import type { Json, JsonObject, RunView, WorkflowNode } from '@cairn/protocol';
import type { AgentGroup, ModelRequest, ModelSelection, ReasoningVerbosity } from '../models/turn.ts';
import type { Agent } from './agent.ts';
import type { LoopWorld } from './world.ts';

/** A node, and what its run was started with. */
interface Settings {
  readonly node: WorkflowNode;
  readonly state: { readonly view: Pick<RunView, 'configurable' | 'owner'> };
}

/** The options that the run was started with. */
export const optionsOf = ({ state }: Settings): JsonObject => state.view.configurable ?? {};

export function verbosityOf(context: Settings, world: Pick<LoopWorld, 'reasoningVerbosity'>): ReasoningVerbosity {
  const asked = optionsOf(context).reasoningVerbosity ?? context.node.config.reasoningVerbosity;
  return (asked ?? world.reasoningVerbosity) as ReasoningVerbosity;
}

/** With whom the node shares what is said; nobody, unless it says otherwise. */
export const groupOf = ({ node }: Pick<Settings, 'node'>): AgentGroup =>
  (node.config.agentSharing ?? 'isolated') as AgentGroup;

export const mockOf = (context: Settings): ModelRequest['mock'] =>
  optionsOf(context).mockProvider as unknown as ModelRequest['mock'];

/** Who started the run. */
export const principalOf = ({ state }: Settings): string | null => state.view.owner?.principal ?? null;

export function selectionOf(context: Settings, agent: Pick<Agent, 'modelClass'>): ModelSelection {
  const options = optionsOf(context);
  const { config } = context.node;
  // A model that the run asks for goes with the provider the run asks for, not with that of the node.
  const runModel = options['ai.model'] ?? options.model;
  const runProvider = options['ai.provider'];
  const isRuns = runModel !== undefined || runProvider !== undefined;
  return {
    modelClass: agent.modelClass,
    ...given('model', isRuns ? runModel : config.model),
    ...given('provider', isRuns ? runProvider : config.provider),
    ...given('temperature', options.temperature ?? config.temperature),
    ...given('maxTokens', options.maxTokens ?? config.maxTokens),
    ...given('credentialRef', options['ai.credentialRef']),
  };
}

const given = (name: string, value: Json | undefined): Record<string, Json> =>
  value === undefined ? {} : { [name]: value };
