/** What a new run is pinned to besides its workflow, and how a loaded run finds it again. */
import type { JsonObject } from '@cairn/protocol';
import type { AgentMetadata, AgentPin, AgentSource, PromptPin, PromptSource } from '../ports.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { createAgentPins, namedAgents } from './agent-pins.ts';
import { createPromptPins } from './prompt-pins.ts';

/** As `run.started` records them. A run from before prompt templates were pinned has no `prompts`. */
export interface Pins {
  readonly agents?: Readonly<Record<string, AgentPin>> | undefined;
  readonly prompts?: Readonly<Record<string, PromptPin>> | undefined;
}

/** What a new run records besides. */
export interface FoundPins extends Pins {
  readonly metadata?: JsonObject | undefined;
}

export interface RunPins {
  /** Throws if an agent that a node acts as does not exist. */
  find(tenant: string, workflow: Workflow): Promise<FoundPins>;
  /** Returns the workflow with the pinned definitions. */
  give(workflow: Workflow, pins: Pins): Promise<Workflow>;
}

export interface PinSources {
  readonly agents?: AgentSource | null | undefined;
  readonly prompts?: PromptSource | null | undefined;
  readonly agentMetadata?: AgentMetadata | null | undefined;
}

export function createRunPins(sources: PinSources): RunPins {
  const agentPins = createAgentPins(sources.agents ?? null);
  const promptPins = createPromptPins(sources.prompts ?? null);
  const metadataOf = async (workflow: Workflow, pinned: readonly string[]): Promise<JsonObject | null> =>
    (await sources.agentMetadata?.({ pinned, named: namedAgents(workflow) })) ?? null;
  return {
    async find(tenant, workflow) {
      const agents = await agentPins.find(tenant, workflow);
      const prompts = await promptPins.find(workflow);
      const metadata = agents === null ? null : await metadataOf(workflow, Object.keys(agents));
      return {
        ...(agents === null ? {} : { agents }),
        ...(prompts === null ? {} : { prompts }),
        ...(metadata === null ? {} : { metadata }),
      };
    },
    async give(workflow, { agents, prompts }) {
      if (isEmpty(agents) && isEmpty(prompts)) return workflow;
      return {
        ...workflow,
        agents: await agentPins.definitions(workflow, agents ?? {}),
        prompts: await promptPins.templates(prompts ?? {}),
      };
    },
  };
}

const isEmpty = (pins: object | undefined): boolean => pins === undefined || Object.keys(pins).length === 0;
