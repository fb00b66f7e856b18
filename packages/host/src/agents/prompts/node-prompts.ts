/** The prompts of an agent in a node: its own, or the templates that the node or its workflow references. */
import { row, TerminalError } from '@cairn/protocol';
import type { Draft } from '../../engine/core/state.ts';
import type { PromptTemplate, Sha256 } from '../../engine/ports.ts';
import type { NodeContext } from '../../engine/workflow/node-type.ts';
import { composePrompt } from './compose-prompt.ts';
import {
  type LayerPrompt,
  type PromptConfig,
  type PromptLayer,
  type PromptSlot,
  referredPrompts,
  resolvePrompt,
} from './prompt-chain.ts';
import type { PromptRegistry } from './prompt-registry.ts';
import { type PromptKind, type PromptRef, refText } from './prompt-template.ts';

export interface PromptOptions {
  /** The templates of the host, for runs that are not pinned to theirs. */
  readonly prompts: PromptRegistry;
  readonly sha256: Sha256;
}

/** The inline prompt of an agent, or of a node without an agent. */
export interface OwnPrompt {
  readonly layer: 'run-configurable' | 'node' | 'agent-intrinsic';
  /** Empty when there is no inline prompt. */
  readonly text: string;
  /** The owner, as the record names it. */
  readonly whose: string;
  readonly agentId?: string;
}

export interface NodePrompts {
  readonly system: string;
  /** The first user message; null when no template defines one. */
  readonly user: string | null;
  /** Examples that precede the user message. */
  readonly examples: readonly string[];
  /** Records which prompts were chosen and why, with hashes of the composed texts; no text. */
  readonly rows: readonly Draft[];
}

/** Throws for an unknown template or an unfilled required slot, which fails the node. */
export function nodePrompts(context: NodeContext<PromptConfig>, own: OwnPrompt, options: PromptOptions): NodePrompts {
  const rows: Draft[] = [];
  const where = { nodeId: context.node.id };
  const texts = (kind: PromptKind): string[] =>
    referredPrompts(context, kind).flatMap((sources) => {
      const slot = slotOf(context.node.id, kind, own, sources);
      // A kind without any source is skipped; the system prompt is always resolved.
      if (kind !== 'system' && Object.keys(slot.sources).length === 0) return [];
      const { source, payload } = resolvePrompt(slot);
      rows.push(row('agent.promptResolved', payload, where));
      if (source === null) return [];
      if (!('ref' in source)) return [source.text];
      const { text, payload: said } = composePrompt(
        templateOf(context, source.ref, options),
        source.ref,
        context,
        options.sha256,
      );
      rows.push(row('prompt.composed', said, where));
      return [text];
    });
  // Rows follow the order of `promptKinds`.
  const system = texts('system');
  const [user = null] = texts('user');
  const examples = texts('few-shot');
  const hints = texts('schema-hint');
  return { system: [...system, ...hints].join('\n\n'), user, examples, rows };
}

/** The template that the run was pinned to when it started. Earlier versions pinned none, so their runs use the host's. */
function templateOf({ state, prompts }: NodeContext, ref: PromptRef, options: PromptOptions): PromptTemplate {
  if (state.prompts === undefined) return options.prompts.find(ref);
  const pinned = prompts.get(refText(ref));
  if (pinned !== undefined) return pinned;
  // The text must not depend on what the host has now: a replay fails the node in the same way.
  throw new TerminalError('config_validation_failed', {
    message: `There was no prompt template ${refText(ref)} when the run started.`,
    hint: 'Give the host the template, or name one that it has, and start a new run.',
    details: { ref: refText(ref) },
  });
}

function slotOf(
  nodeId: string,
  kind: PromptKind,
  { layer, text, whose, agentId }: OwnPrompt,
  referred: Readonly<Partial<Record<PromptLayer, LayerPrompt>>>,
): PromptSlot {
  const hasOwn = kind === 'system' && text !== '';
  const sources = hasOwn ? { [layer]: { text, whose }, ...referred } : referred;
  return { nodeId, kind, ...(agentId === undefined ? {} : { agentId }), sources };
}
