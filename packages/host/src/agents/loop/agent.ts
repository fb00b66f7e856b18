/** An agent as the loop acts for it: out of the definition its run is pinned to, or out of a node's own prompt. */
import { type AgentRef, isJsonObject, type Json, type JsonObject, modelClassOf, TerminalError } from '@cairn/protocol';
import type { AgentDefinition } from '../../engine/ports.ts';
import type { NodeContext } from '../../engine/workflow/node-type.ts';

export interface Agent {
  readonly agentId: string;
  readonly ref: AgentRef;
  readonly systemPrompt: string;
  /** The layer that the prompt comes from. */
  readonly promptLayer: 'agent-intrinsic' | 'node';
  readonly modelClass: string;
  readonly allowlist: readonly string[] | undefined;
  /** It was told how sure it has to be, so that it can say how sure it is. */
  readonly hasConfidence: boolean;
  readonly defaultThreshold: number | undefined;
  readonly isMemoryBound: boolean;
  readonly taskSchema: JsonObject | undefined;
  readonly returnSchema: JsonObject | undefined;
  readonly rehearsal: Json | undefined;
  /** Whom it may hand work to. */
  readonly colleagues: readonly Colleague[];
}

export interface Colleague {
  readonly agentId: string;
  readonly persona: string;
  readonly description: string | undefined;
}

/** The agent a node names, before anybody hands on. */
export const firstAgentId = ({ node }: Pick<NodeContext, 'node'>): string =>
  node.agent?.agentId ?? `host:prompt:${node.id}`;

/** Throws when the run is not pinned to such an agent. */
export function agentOf(context: NodeContext, agentId: string): Agent {
  if (context.node.agent === undefined) return promptAgent(context, agentId);
  const definition = context.agents.get(agentId);
  if (definition === undefined) {
    throw new TerminalError('not_found', {
      message: `Node ${context.node.id} acts as ${agentId}, to which this run is not pinned.`,
      hint: 'Start the run again: agents are found when a run starts.',
      details: { nodeId: context.node.id, agentId },
    });
  }
  const { manifest, systemPrompt, taskSchema, rehearsal, packVersion } = definition;
  const pin = Object.hasOwn(context.state.agents, agentId) ? context.state.agents[agentId] : undefined;
  return {
    agentId,
    ref: pin?.ref ?? { agentId, version: packVersion },
    systemPrompt,
    promptLayer: 'agent-intrinsic',
    modelClass: modelClassOf(manifest.modelClass),
    allowlist: manifest.toolAllowlist,
    hasConfidence: manifest.confidence !== undefined,
    defaultThreshold: manifest.confidence?.defaultThreshold,
    isMemoryBound: manifest.memoryShape?.longTerm === true,
    taskSchema,
    returnSchema: definition.returnSchema ?? outputSchemaOf(context),
    rehearsal,
    colleagues: colleaguesOf(context, definition),
  };
}

const outputSchemaOf = ({ node: { config } }: Pick<NodeContext, 'node'>): JsonObject | undefined =>
  isJsonObject(config.outputSchema) ? config.outputSchema : undefined;

function colleaguesOf(context: NodeContext, { packName, manifest }: AgentDefinition): Colleague[] {
  const colleagues: Colleague[] = [];
  for (const [agentId, other] of context.agents) {
    if (agentId === manifest.agentId || other.packName !== packName) continue;
    const { persona, description } = other.manifest;
    colleagues.push({ agentId, persona, description });
  }
  return colleagues.sort((a, b) => (a.agentId < b.agentId ? -1 : 1));
}

/** A node without an agent is one of its own: it has a prompt, and neither tools nor colleagues. */
function promptAgent({ node }: NodeContext, agentId: string): Agent {
  const { id, config } = node;
  return {
    agentId,
    ref: { agentId, name: id, modelClass: 'chat' },
    systemPrompt: typeof config.systemPrompt === 'string' ? config.systemPrompt : '',
    promptLayer: 'node',
    modelClass: 'chat',
    allowlist: undefined,
    hasConfidence: false,
    defaultThreshold: undefined,
    isMemoryBound: false,
    taskSchema: undefined,
    returnSchema: outputSchemaOf({ node }),
    rehearsal: undefined,
    colleagues: [],
  };
}
