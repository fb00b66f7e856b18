/** The content of a program: what it defines for a host. `cairn dev` loads one, and `createHost` takes the same keys. */
import { quoted, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import type { DefinedAgent } from '../agents/define-agent.ts';
import type { PromptTemplate } from '../agents/prompts/prompt-template.ts';
import type { Tool } from '../agents/tools/tool.ts';
import type { Step } from '../engine/ports.ts';
import { nearest } from '../nearest.ts';

export interface App {
  /** Functions defined with `defineStep` that workflows may name. */
  readonly steps: readonly Step[];
  /** Agents defined with `defineAgent`, for every tenant. */
  readonly agents: readonly DefinedAgent[];
  /** Tools defined with `defineTool` that agents may call, if their manifests list them. */
  readonly tools: readonly Tool[];
  /** Templates that agent nodes may refer to. */
  readonly prompts: readonly PromptTemplate[];
  /** Definitions to register at start, for each tenant of the keys; without keys, for the tenant `local`. */
  readonly workflows: readonly WorkflowDefinition[];
}

/** The function that makes the elements of each list, and the fields that all of its results have. */
const lists: { readonly [Key in keyof App]: readonly [maker: string, fields: readonly string[]] } = {
  steps: ['defineStep', ['typeId', 'run']],
  agents: ['defineAgent', ['agentId', 'definition']],
  tools: ['defineTool', ['id', 'check', 'run']],
  prompts: ['the prompt template schema', ['templateId', 'version']],
  workflows: ['defineWorkflow', ['id', 'nodes', 'edges']],
};

const names = Object.keys(lists);

/**
 * Collects what a program defines. Export the result as the default export of the file for `cairn dev`, or pass it to
 * `createHost`. Throws `config_invalid` for a key or an element that does not belong there.
 */
export function defineApp(app: Partial<App>): App {
  for (const key of Object.keys(app)) {
    if (names.includes(key)) continue;
    const meant = nearest(key, names);
    throw wrong(
      `${quoted(key, 60)} is no part of an app${meant === null ? '' : `; did you mean ${meant}?`}`,
      `An app has ${names.join(', ')}.`,
    );
  }
  const { steps = [], agents = [], tools = [], prompts = [], workflows = [] } = app;
  const whole = { steps, agents, tools, prompts, workflows };
  for (const [key, [maker, fields]] of Object.entries(lists)) checkList(key, Object.entries(whole), { maker, fields });
  return whole;
}
