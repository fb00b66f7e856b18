/** What the host gives the agent loop: settings and pure functions, no I/O. */
import type { RunView } from '@cairn/protocol';
import type { Sha256 } from '../../engine/ports.ts';
import type { ToolAccess } from '../allowlist.ts';
import type { ModelFinder } from '../models/model-turn.ts';
import type { ReasoningVerbosity } from '../models/turn.ts';
import type { PromptRegistry } from '../prompts/prompt-registry.ts';
import type { Tool } from '../tools/tool.ts';

/** What an invocation begins with besides its agent: the model and the tools that its host has for it. */
export interface InvocationBasis {
  readonly provider: string;
  readonly model: string;
  readonly isPriced: boolean;
  /** The number of tools that the agent is shown. */
  readonly toolCount: number;
}

/** What nodes that call a tool of an MCP server need to know of the configured servers. */
export interface NamedServers {
  /** The server for a node that names none; null if there is not exactly one. */
  readonly serverOf: (nodeId: string) => string | null;
  readonly serverCount: () => number;
  /** Stands for a tool of a server whose tools are not listed yet. Undefined for a server that is not configured. */
  readonly unlisted: (toolId: string) => Tool | undefined;
}

export interface LoopOptions {
  readonly sha256: Sha256;
  /** Templates that nodes may refer to. */
  readonly prompts: PromptRegistry;
  readonly models: ModelFinder;
  /**
   * For a recorded run that is decided again without its host: what the invocation began with. Throws the error with which
   * the node failed instead.
   */
  readonly recordedBasis?: (at: { readonly nodeId: string; readonly invocationId: string }) => InvocationBasis;
  /** The tool registry and rules that apply to an agent with this allowlist in this run. */
  readonly toolAccess: (run: Readonly<RunView>, allowlist: readonly string[] | undefined) => ToolAccess;
  /** The servers that nodes can name. Absent: the host has none. */
  readonly mcp?: NamedServers;
  /** The default when neither run nor node sets one. */
  readonly reasoningVerbosity: ReasoningVerbosity;
  /** Maximum number of tokens in a reasoning summary. */
  readonly reasoningTokenLimit: number;
  /** The operator's choice for decisions below the threshold. `suppress` lets them pass and logs that. */
  readonly lowConfidence: 'ask' | 'suppress';
  /** The questions that the tools of a node, or the supervisor of a run, may ask. */
  readonly clarificationRounds: number;
  /** Whether there are test-only nodes and settings. */
  readonly isConformanceHost: boolean;
}
