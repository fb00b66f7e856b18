/** Resolves a prompt from an ordered chain of layers, and records which layer supplied it. */
import type { JsonObject, PayloadOf } from '@cairn/protocol';
import { z } from 'zod';
import type { CompiledNode, ConfiguredNode, NodeContext } from '../../engine/workflow/node-type.ts';
import { type PromptKind, type PromptRef, parsePromptRef, promptKinds, promptRef, refText } from './prompt-template.ts';

/** The layers in order of precedence, highest first. Only a branch has the first: what its overlay says. */
const layers = ['run-configurable', 'node', 'agent-intrinsic', 'workflow-defaults', 'host-defaults'] as const;
export type PromptLayer = (typeof layers)[number];

/** The prompt of a layer: a reference to a template, or inline text. */
export type LayerPrompt =
  | { readonly ref: PromptRef }
  | {
      readonly text: string;
      /** The owner of the text, as the record names it. */
      readonly whose: string;
    };

export interface PromptSlot {
  readonly nodeId: string;
  readonly kind: PromptKind;
  readonly agentId?: string;
  readonly sources: Readonly<Partial<Record<PromptLayer, LayerPrompt>>>;
}

export interface ResolvedPrompt {
  /** Null when no layer has a prompt. */
  readonly source: LayerPrompt | null;
  /** Payload of the row `agent.promptResolved`: names of prompts, without any text. */
  readonly payload: PayloadOf<'agent.promptResolved'>;
}

const nameOf = (source: LayerPrompt): string => ('ref' in source ? refText(source.ref) : source.whose);

/** The first layer with a prompt wins. The record lists every layer, the first only where a run has it. */
export function resolvePrompt({ nodeId, kind, agentId, sources }: PromptSlot): ResolvedPrompt {
  const possible = sources['run-configurable'] === undefined ? layers.slice(1) : layers;
  const place = possible.findIndex((layer) => sources[layer] !== undefined);
  const winner = possible[place];
  const chain = possible.map((layer, i) => {
    const source = sources[layer];
    const named = { layer, ...(source === undefined ? {} : { source: nameOf(source) }) };
    if (i === place) return { ...named, applied: true };
    const isAfter = winner !== undefined && i > place;
    return { ...named, applied: false, reason: isAfter ? `superseded by ${winner}` : 'no prompt at this layer' };
  });
  const source = (winner !== undefined && sources[winner]) || null;
  const resolved = source === null ? null : nameOf(source);
  return { source, payload: { nodeId, kind, ...(agentId !== undefined && { agentId }), chain, resolved } };
}

/** The config fields of a node that reference templates; `fewShotPromptRefs` is a list. */
const nodeFields = {
  system: 'systemPromptRef',
  user: 'userPromptRef',
  'schema-hint': 'schemaHintPromptRef',
  'few-shot': 'fewShotPromptRefs',
} as const satisfies Record<PromptKind, string>;

/** Schemas of these fields for the config of a node. */
export const promptRefFields = {
  systemPromptRef: z.union([promptRef, z.array(promptRef)]).optional(),
  userPromptRef: z.union([promptRef, z.array(promptRef)]).optional(),
  schemaHintPromptRef: z.union([promptRef, z.array(promptRef)]).optional(),
  fewShotPromptRefs: z.array(promptRef).optional(),
} satisfies Record<(typeof nodeFields)[PromptKind], z.ZodType>;

/** The references of a node that may name templates. */
export type PromptConfig = z.infer<z.ZodObject<typeof promptRefFields>>;

/** A node has an inline system prompt or a reference, not both. */
export const hasOneSystemPrompt = (config: { readonly systemPrompt?: unknown; readonly systemPromptRef?: unknown }) =>
  config.systemPrompt === undefined || config.systemPromptRef === undefined;

export const oneSystemPromptOnly = {
  path: ['systemPromptRef'],
  message: 'config.systemPrompt and config.systemPromptRef exclude each other',
};

/** Every template that a node or its workflow names, in short form. */
export const promptRefs = ({
  config,
  definition,
}: Pick<ConfiguredNode<PromptConfig>, 'config' | 'definition'>): readonly string[] =>
  promptKinds.flatMap((kind) =>
    referredPrompts({ config, compiled: { definition } }, kind)
      .flatMap((sources) => Object.values(sources))
      .flatMap((source) => ('ref' in source ? [refText(source.ref)] : [])),
  );

/** The references of a node and its workflow for a kind of prompt. Most kinds have one slot. */
export function referredPrompts(
  {
    config,
    compiled,
  }: Pick<NodeContext<PromptConfig>, 'config'> & { readonly compiled: Pick<CompiledNode, 'definition'> },
  kind: PromptKind,
): Partial<Record<PromptLayer, LayerPrompt>>[] {
  const asked = config[nodeFields[kind]];
  const refs = Array.isArray(asked) ? asked : [asked];
  const promptRefs = compiled.definition.defaults?.promptRefs as JsonObject | undefined;
  const fallback = parsePromptRef(promptRefs?.[kind]);
  return refs.map((value) => {
    const ref = parsePromptRef(value);
    return {
      ...(ref !== null && { node: { ref } }),
      ...(fallback !== null && { 'workflow-defaults': { ref: fallback } }),
    };
  });
}
