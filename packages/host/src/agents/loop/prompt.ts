/** The prompts of an agent in its node: the agent's own, or the templates that the node references. */

import type { Draft } from '../../engine/core/state.ts';
import { nodePrompts } from '../prompts/node-prompts.ts';
import { type Agent, firstAgentId } from './agent.ts';
import type { AgentContext, LoopContext } from './agent-config.ts';
import type { LoopOptions } from './loop-options.ts';
import type { Invocation } from './state/loop-state.ts';
import { nodeTask } from './task.ts';

type PromptOptions = Pick<LoopOptions, 'prompts' | 'sha256'>;

/** Rows that record which prompts the agent gets and why, as references and hashes. */
export const promptRows = (context: AgentContext, agent: Agent, options: PromptOptions): readonly Draft[] =>
  promptsOf(context, agent, options).rows;

/** The system prompt and the first user message of an invocation. */
export function openingWords(
  context: LoopContext,
  agent: Agent,
  { task }: Pick<Invocation, 'task'>,
  options: PromptOptions,
): { readonly system: string; readonly text: string } {
  const { system, user, examples } = promptsOf(context, agent, options);
  const text = task ?? user ?? nodeTask(context);
  return { system, text: [...examples, text].join('\n\n') };
}

function promptsOf(context: AgentContext, agent: Agent, options: PromptOptions) {
  const { agentId, systemPrompt, promptLayer } = agent;
  const own = { layer: promptLayer, text: systemPrompt, whose: nameOf(agent), agentId };
  // The node's references apply only to the agent it names; a colleague uses its own prompt.
  const isFirst = agentId === firstAgentId(context);
  return nodePrompts(isFirst ? context : withoutReferences(context), own, options);
}

function withoutReferences(context: AgentContext): AgentContext {
  const { defaults: _, ...definition } = context.compiled.definition;
  return { ...context, config: {}, compiled: { ...context.compiled, definition } };
}

/** An agent's own prompt takes the agent's name. */
function nameOf({ agentId, ref }: Agent): string {
  const name = agentId
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .slice(0, 128);
  return ref.version === undefined ? `prompt:${name}` : `prompt:${name}@${ref.version}`;
}
