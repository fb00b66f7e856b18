/** The loop's view of an agent. It comes from the definition pinned by the run, or from the node's own prompt. */
import { type AgentRef, type Json, type JsonObject, modelClassOf, TerminalError } from '@cairn/protocol';
import type { AgentDefinition } from '../../engine/ports.ts';
import type { OwnPrompt } from '../prompts/node-prompts.ts';
import type { AgentContext } from './agent-config.ts';

export interface Agent {
  readonly agentId: string;
  readonly ref: AgentRef;
  readonly systemPrompt: string;
  /** The prompt layer that supplies the system prompt. */
  readonly promptLayer: OwnPrompt['layer'];
  readonly modelClass: string;
  readonly allowlist: readonly string[] | undefined;
  /** The manifest sets a confidence, so the agent may state one. */
  readonly hasConfidence: boolean;
  readonly defaultThreshold: number | undefined;
  readonly isMemoryBound: boolean;
  readonly taskSchema: JsonObject | undefined;
  readonly returnSchema: JsonObject | undefined;
  readonly rehearsal: Json | undefined;
  /** The A2A peer that does its work. */
  readonly peer: string | undefined;
  /** Agents of the same pack, to which this agent may hand off. */
  readonly colleagues: readonly Colleague[];
}

export interface Colleague {
  readonly agentId: string;
  readonly persona: string;
  readonly description: string | undefined;
}

/** Nodes of this type act as the agent of an A2A peer, which their config names, or the only one of the host. */
export const PEER_NODE = 'core.a2a.invoke';

/** The agent a node starts with, before any handoff. */
export const firstAgentId = (context: Pick<AgentContext, 'node' | 'config' | 'agents'>): string =>
  context.node.agent?.agentId ?? peerAgentOf(context) ?? `host:prompt:${context.node.id}`;

/** The agent of the peer that a node names, among those that the run pins. */
export function peerAgentOf({ node, config, agents }: Pick<AgentContext, 'node' | 'config' | 'agents'>): string | null {
  if (node.typeId !== PEER_NODE) return null;
  const wanted = config.peer;
  for (const [agentId, { peer }] of agents) {
    if (peer !== undefined && (wanted === undefined || peer === wanted)) return agentId;
  }
  return null;
}

/** Throws when the run does not pin this agent. */
export function agentOf(context: AgentContext, agentId: string): Agent {
  const definition = context.agents.get(agentId);
  const isPrompt = context.node.agent === undefined && context.node.typeId !== PEER_NODE;
  if (isPrompt) return promptAgent(context, agentId);
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
    ...ownPrompt(context, agentId, { systemPrompt, promptLayer: 'agent-intrinsic' }),
    modelClass: modelClassOf(manifest.modelClass),
    allowlist: manifest.toolAllowlist,
    hasConfidence: manifest.confidence !== undefined,
    defaultThreshold: manifest.confidence?.defaultThreshold,
    isMemoryBound: manifest.memoryShape?.longTerm === true,
    taskSchema,
    returnSchema: definition.returnSchema ?? context.config.outputSchema,
    rehearsal,
    peer: definition.peer,
    colleagues: colleaguesOf(context, definition),
  };
}

type OwnWords = Pick<Agent, 'systemPrompt' | 'promptLayer'>;

/** The overlay of a branch names an agent, or a node without an agent. It also replaces a template of the node. */
function ownPrompt({ state: { fork } }: AgentContext, name: string, own: OwnWords): OwnWords {
  const overlaid = fork !== undefined && Object.hasOwn(fork.prompts, name) ? fork.prompts[name] : undefined;
  return overlaid === undefined ? own : { systemPrompt: overlaid, promptLayer: 'run-configurable' };
}

function colleaguesOf(context: AgentContext, { packName, manifest }: AgentDefinition): Colleague[] {
  const colleagues: Colleague[] = [];
  for (const [agentId, other] of context.agents) {
    if (agentId === manifest.agentId || other.packName !== packName) continue;
    const { persona, description } = other.manifest;
    colleagues.push({ agentId, persona, description });
  }
  return colleagues.sort((a, b) => (a.agentId < b.agentId ? -1 : 1));
}

/** Builds the agent of a node that names none: it has a prompt, but no tools and no colleagues. */
function promptAgent(context: AgentContext, agentId: string): Agent {
  const { id } = context.node;
  const { systemPrompt = '', outputSchema } = context.config;
  return {
    agentId,
    ref: { agentId, name: id, modelClass: 'chat' },
    ...ownPrompt(context, id, { systemPrompt, promptLayer: 'node' }),
    modelClass: 'chat',
    allowlist: undefined,
    hasConfidence: false,
    defaultThreshold: undefined,
    isMemoryBound: false,
    taskSchema: undefined,
    returnSchema: outputSchema,
    rehearsal: undefined,
    peer: undefined,
    colleagues: [],
  };
}
