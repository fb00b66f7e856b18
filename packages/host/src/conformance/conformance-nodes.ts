/** Kinds of node that only the published fixtures have; a host offers them when its conformance switch is on. */

import { nodePrompts, type PromptOptions } from '../agents/prompts/node-prompts.ts';
import { promptRefProblems } from '../agents/prompts/prompt-chain.ts';
import type { NodeType } from '../engine/workflow/node-type.ts';

export interface ConformanceWorld extends PromptOptions {
  /** The model that a node without a wish of its own gets. */
  readonly activeModel: () => { readonly provider: string; readonly model: string };
}

export const conformanceNodes = (world: ConformanceWorld): readonly NodeType[] => [
  mockAi(world),
  insufficientModel(world.activeModel),
];

/** Resolves and composes the prompts its configuration refers to, and answers with their hashes: no model is asked. */
const mockAi = (world: PromptOptions): NodeType => ({
  typeId: 'local.sample.demo.mock-ai',
  check: ({ config }) => promptRefProblems(config),
  begin(context) {
    const own = { layer: 'node' as const, text: '', whose: '' };
    const { rows } = nodePrompts(context, own, world);
    const hashes = rows.flatMap(({ payload }) => (payload.hash === undefined ? [] : [payload.hash]));
    return { kind: 'complete', outputs: { content: `mock:${hashes.join(',')}` }, drafts: rows };
  },
});

/** A capability outside the reserved list, which no model has. */
const NEVER_PROVIDED = 'nonexistent-capability-9b3f';

/** Refused before anything is called: the model lacks what the node needs. */
const insufficientModel = (activeModel: ConformanceWorld['activeModel']): NodeType => ({
  typeId: 'conformance.modelCapability.insufficient',
  check: () => [],
  begin({ node }) {
    const { provider, model } = activeModel();
    const payload = { nodeId: node.id, provider, model, missingCapabilities: [NEVER_PROVIDED] };
    return {
      kind: 'fail',
      drafts: [{ type: 'model.capability.insufficient', nodeId: node.id, audience: 'client', payload }],
      error: {
        code: 'capability_not_provided',
        message: `Node ${node.id} needs a model with ${NEVER_PROVIDED}; ${provider}/${model} does not have it.`,
        retryable: false,
        details: { missingCapabilities: [NEVER_PROVIDED] },
      },
    };
  },
});
