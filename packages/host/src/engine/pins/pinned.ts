/** The definitions that a run is pinned to besides its workflow. */
import type { AgentDefinition, PromptTemplate } from '../ports.ts';

/** Agent definitions by agentId. Only agent drivers read their contents. */
export type Agents = ReadonlyMap<string, AgentDefinition>;

export interface Pinned {
  /** The agents that the nodes of the run may act as. */
  readonly agents: Agents;
  /** Prompt templates by reference, as its nodes write it in short form. */
  readonly prompts: ReadonlyMap<string, PromptTemplate>;
}

export const nothingPinned: Pinned = { agents: new Map(), prompts: new Map() };
