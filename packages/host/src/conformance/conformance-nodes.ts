/** Node types used only by the published fixtures. */
import { row } from '@cairn/protocol';
import { z } from 'zod';
import { nodePrompts, type PromptOptions } from '../agents/prompts/node-prompts.ts';
import {
  hasOneSystemPrompt,
  oneSystemPromptOnly,
  promptRefFields,
  promptRefs,
} from '../agents/prompts/prompt-chain.ts';
import { noConfig } from '../engine/nodes/config-fields.ts';
import { rehearsedGate } from '../engine/nodes/conversation-gate.ts';
import { defineNodeType, type NodeType } from '../engine/workflow/node-type.ts';
import type { NodeTypePorts } from '../server/host-extension.ts';

export const conformanceNodes = (ports: NodeTypePorts): readonly NodeType[] => [
  mockAi(ports),
  insufficientModel(ports.defaultModel),
  requiresMissing,
  rehearsedGate,
];

/** Fails without being started. */
export const requiresMissing: NodeType = {
  typeId: 'conformance.requiresMissing',
  config: noConfig,
  doc: {
    summary: 'For tests: fails, because it needs a capability that no host has.',
    settings: {},
    outputs: {},
  },
  missingCapability: 'conformance.never-provided',
  begin: () => ({ kind: 'complete', outputs: {} }),
};

/** Resolves and composes the configured prompts and outputs their hashes, without calling a model. */
const mockAi = (options: PromptOptions): NodeType =>
  defineNodeType({
    typeId: 'local.sample.demo.mock-ai',
    config: z.strictObject(promptRefFields).refine(hasOneSystemPrompt, oneSystemPromptOnly),
    promptRefs,
    begin(context) {
      const own = { layer: 'node' as const, text: '', whose: '' };
      const { rows } = nodePrompts(context, own, options);
      const hashes = rows.flatMap(({ type, payload }) => (type === 'prompt.composed' ? [payload.hash] : []));
      return { kind: 'complete', outputs: { content: `mock:${hashes.join(',')}` }, drafts: rows };
    },
  });

/** A capability outside the reserved list, which no model has. */
const NEVER_PROVIDED = 'nonexistent-capability-9b3f';

/** Fails before any call: the model lacks a capability that the node requires. */
const insufficientModel = (defaultModel: NodeTypePorts['defaultModel']): NodeType => ({
  typeId: 'conformance.modelCapability.insufficient',
  config: noConfig,
  begin({ node }) {
    const { provider, model } = defaultModel();
    const payload = { nodeId: node.id, provider, model, missingCapabilities: [NEVER_PROVIDED] };
    return {
      kind: 'fail',
      drafts: [row('model.capability.insufficient', payload, { nodeId: node.id })],
      error: {
        code: 'capability_not_provided',
        message: `Node ${node.id} needs a model with ${NEVER_PROVIDED}; ${provider}/${model} does not have it.`,
        retryable: false,
        details: { missingCapabilities: [NEVER_PROVIDED] },
      },
    };
  },
});
