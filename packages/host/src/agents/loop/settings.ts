/** Agent settings. The run's options take precedence, then the node's config, then the manifest or the host. */
import type { Json, JsonObject, RunView } from '@cairn/protocol';
import type { AgentGroup, ModelRequest, ModelSelection, ReasoningVerbosity } from '../models/turn.ts';
import { type Agent, PEER_NODE } from './agent.ts';
import type { AgentConfig, AgentContext } from './agent-config.ts';
import type { LoopOptions } from './loop-options.ts';

/** The options a run started with. */
interface RunOptions {
  readonly state: { readonly view: Pick<RunView, 'configurable' | 'owner'> };
}

/** The options of a run, and some settings of a node. */
interface Settings<Name extends keyof AgentConfig> extends RunOptions {
  readonly config: Pick<AgentConfig, Name>;
}

/** `configurable` of the run. */
export const configurableOf = ({ state }: RunOptions): JsonObject => state.view.configurable ?? {};

export function verbosityOf(
  context: Settings<'reasoningVerbosity'>,
  options: Pick<LoopOptions, 'reasoningVerbosity'>,
): ReasoningVerbosity {
  const asked = configurableOf(context).reasoningVerbosity ?? context.config.reasoningVerbosity;
  return (asked ?? options.reasoningVerbosity) as ReasoningVerbosity;
}

/** The group with which the node shares its conversation; `isolated` by default. */
export const groupOf = ({ config }: Pick<AgentContext, 'config'>): AgentGroup =>
  (config.agentSharing ?? 'isolated') as AgentGroup;

/** The conversation that the agent gets before its task. A run of a single agent answers a message to its context. */
export function heardBy(context: Pick<AgentContext, 'config' | 'compiled'>): AgentGroup {
  const isMessage = context.compiled.definition.metadata.source === 'run-api';
  return isMessage && context.config.agentSharing === undefined ? 'context' : groupOf(context);
}

export const mockOf = (context: RunOptions): ModelRequest['mock'] =>
  configurableOf(context).mockProvider as ModelRequest['mock'];

/** What the peer of an agent is told beside the task. An agent that shares a conversation shares one with its peer. */
export function peerOf(
  context: Pick<AgentContext, 'node' | 'config' | 'compiled'>,
  name: string,
): NonNullable<ModelRequest['peer']> {
  const { skill } = context.config;
  const isInvoked = context.node.typeId === PEER_NODE;
  return {
    name,
    conversation: heardBy(context) !== 'isolated',
    ...(isInvoked && skill !== undefined ? { skill } : {}),
  };
}

/** Who started the run. */
export const principalOf = ({ state }: RunOptions): string | null => state.view.owner?.principal ?? null;

export function selectionOf(
  context: Settings<'model' | 'provider' | 'temperature' | 'maxTokens'>,
  agent: Pick<Agent, 'modelClass'>,
): ModelSelection {
  const configurable = configurableOf(context);
  const { config } = context;
  // A model from the run's options pairs with the run's provider, not with the node's.
  const runModel = configurable['ai.model'] ?? configurable.model;
  const runProvider = configurable['ai.provider'];
  const isRuns = runModel !== undefined || runProvider !== undefined;
  return {
    modelClass: agent.modelClass,
    ...given('model', isRuns ? runModel : config.model),
    ...given('provider', isRuns ? runProvider : config.provider),
    ...given('temperature', configurable.temperature ?? config.temperature),
    ...given('maxTokens', configurable.maxTokens ?? config.maxTokens),
    ...given('credentialRef', configurable['ai.credentialRef']),
  };
}

const given = (name: string, value: Json | undefined): Record<string, Json> =>
  value === undefined ? {} : { [name]: value };
