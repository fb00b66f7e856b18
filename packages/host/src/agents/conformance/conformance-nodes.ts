/** Kinds of node that only the published fixtures have; a host offers them when its conformance switch is on. */
import type { JsonObject } from '@cairn/protocol';
import type { NodeContext, NodeType } from '../../engine/compiled.ts';
import type { Sha256 } from '../../engine/ports.ts';
import type { Draft } from '../../engine/state.ts';
import { composePrompt } from '../prompts/compose-prompt.ts';
import { promptRefProblems, referredPrompts, resolvePrompt } from '../prompts/prompt-chain.ts';
import { PromptLibrary } from '../prompts/prompt-library.ts';
import { type PromptKind, promptKinds } from '../prompts/prompt-template.ts';
import { conformancePrompts } from './conformance-prompts.ts';

export interface ConformanceWorld {
  readonly sha256: Sha256;
  /** The model that a node without a wish of its own gets. */
  readonly activeModel: () => { readonly provider: string; readonly model: string };
}

export const conformanceNodes = (world: ConformanceWorld): readonly NodeType[] => [
  mockAi(world.sha256),
  insufficientModel(world.activeModel),
];

/** Resolves and composes the prompts its configuration refers to, and answers with their hash: no model is asked. */
function mockAi(sha256: Sha256): NodeType {
  const library = new PromptLibrary(conformancePrompts);
  return {
    typeId: 'local.sample.demo.mock-ai',
    check: ({ config }) => promptRefProblems(config),
    begin(context) {
      const drafts = promptKinds.flatMap((kind) => prompted(context, kind, library, sha256));
      const hashes = drafts.flatMap(({ payload }) => (payload.hash === undefined ? [] : [payload.hash]));
      return { kind: 'complete', outputs: { content: `mock:${hashes.join(',')}` }, drafts };
    },
  };
}

function prompted(context: NodeContext, kind: PromptKind, library: PromptLibrary, sha256: Sha256): Draft[] {
  const nodeId = context.node.id;
  const row = (type: string, payload: object): Draft => ({
    type,
    nodeId,
    audience: 'client',
    payload: payload as JsonObject,
  });
  return referredPrompts(context, kind).flatMap((sources) => {
    const { source, payload } = resolvePrompt({ nodeId, kind, sources });
    if (source === null || !('ref' in source)) return [];
    const composed = composePrompt(library.find(source.ref), source.ref, context, sha256);
    return [row('agent.promptResolved', payload), row('prompt.composed', composed.payload)];
  });
}

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
