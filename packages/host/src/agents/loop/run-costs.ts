/** Checks before a run starts that its cost limit can be enforced, which needs the prices of its models. */
import { modelClassOf } from '@cairn/protocol';
import type { ConfiguredNode, NewRunFacts } from '../../engine/workflow/node-type.ts';
import type { Model } from '../models/model-port.ts';
import type { AgentConfig } from './agent-config.ts';
import { unpriced } from './budgets.ts';
import type { LoopOptions } from './loop-options.ts';
import { mockOf, selectionOf } from './settings.ts';

type AgentNode = ConfiguredNode<AgentConfig>;

/** Checks the agent a node names. Colleagues are checked when their invocation starts. */
export function costProblems(node: AgentNode, run: NewRunFacts, options: LoopOptions): readonly string[] {
  if (unpriced(node.config, run.budget, '') === null) return [];
  const model = modelOf(node, run, options);
  if (model === null || model.prices !== null) return [];
  const problem = unpriced(node.config, run.budget, `${model.provider}/${model.model}`);
  return problem === null ? [] : [problem];
}

/** The name of the node's model, as the first event of the run shows it. */
export const modelNameOf = (node: AgentNode, run: NewRunFacts, options: LoopOptions): string | null =>
  modelOf(node, run, options)?.model ?? null;

/** Null when no model is found; the node reports that error itself. */
function modelOf(
  { node, config }: AgentNode,
  { configurable, agents }: NewRunFacts,
  { models }: LoopOptions,
): Model | null {
  const settings = { config, state: { view: { configurable, owner: null } } };
  const definition = node.agent === undefined ? undefined : agents.get(node.agent.agentId);
  const modelClass = definition === undefined ? 'chat' : modelClassOf(definition.manifest.modelClass);
  try {
    return models.find({
      selection: selectionOf(settings, { modelClass }),
      rehearsal: definition?.rehearsal,
      mock: mockOf(settings),
      ...(definition?.peer === undefined ? {} : { peer: { name: definition.peer, conversation: false } }),
    });
  } catch {
    return null;
  }
}
