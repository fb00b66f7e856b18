/** What the agent loop needs to know of its host: settings and pure functions, no I/O. */
import type { RunView } from '@cairn/protocol';
import type { Sha256 } from '../../engine/ports.ts';
import type { ToolAccess } from '../allowlist.ts';
import type { ModelFinder } from '../models/model-turn.ts';
import type { ReasoningVerbosity } from '../models/turn.ts';
import type { PromptRegistry } from '../prompts/prompt-registry.ts';

export interface LoopOptions {
  readonly sha256: Sha256;
  /** Templates that nodes may refer to. */
  readonly prompts: PromptRegistry;
  readonly models: ModelFinder;
  /** All that decides about the tools of an agent with this allowlist in this run. */
  readonly toolAccess: (run: Readonly<RunView>, allowlist: readonly string[] | undefined) => ToolAccess;
  /** Where neither run nor node says otherwise. */
  readonly reasoningVerbosity: ReasoningVerbosity;
  /** Most tokens of a summary of reasoning. */
  readonly reasoningTokenLimit: number;
  /** The operator's choice for decisions below the threshold: `suppress` lets them pass and says so in the log. */
  readonly lowConfidence: 'ask' | 'suppress';
  /** Nodes that only tests need may stand in any workflow. */
  readonly isConformanceHost: boolean;
}
