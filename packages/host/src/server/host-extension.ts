/** Optional additions to a host: prompts, node types, performers and routes. A host under test gets one. */
import type { Json } from '@cairn/protocol';
import type { LoopOptions } from '../agents/loop/loop-options.ts';
import type { Memory } from '../agents/memory/memory.ts';
import type { PromptOptions } from '../agents/prompts/node-prompts.ts';
import type { PromptTemplate } from '../agents/prompts/prompt-template.ts';
import type { Engine } from '../engine/engine.ts';
import type { Performer } from '../engine/ports.ts';
import type { NodeType } from '../engine/workflow/node-type.ts';
import type { EventLog, RunHead } from '../log/ports/event-log.ts';
import type { Call, Route } from './http/routes.ts';

export interface NodeTypePorts extends PromptOptions {
  /** The model for a node that names none. */
  readonly defaultModel: () => { readonly provider: string; readonly model: string };
  /** For node types that write the rows of an agent. */
  readonly loop: LoopOptions;
}

export interface PerformerPorts {
  readonly memory: Memory;
  /** The value of a configured secret. */
  readonly secret: (tenant: string, name: string) => string | undefined;
}

export interface RoutePorts {
  readonly engine: Engine;
  readonly log: EventLog;
  readonly now: () => number;
  /** Rejects with `not_found` when the run does not belong to the caller's tenant. */
  readonly findRun: (runId: string, caller: Call['caller']) => Promise<RunHead>;
  /** The JSON text of a run's debug bundle, as the caller may see it. */
  readonly debugBundle: (head: RunHead, caller: Call['caller']) => Promise<string>;
}

/** Resources for MCP clients besides runs and artifacts. */
export interface McpResources {
  readonly listed: readonly object[];
  readonly templates: readonly object[];
  /** Null for an address that it does not know. */
  read(uri: string): object | null;
}

/** Prompts for MCP clients besides those of templates, which hold text. */
export interface McpPrompts {
  readonly listed: readonly object[];
  /** The result of `prompts/get`. Null for a name that it does not know. */
  get(name: string, given: Json): object | null;
}

export interface HostExtension {
  /** Runs may request mock agents and mock providers, and discovery lists the workflows registered at start. */
  readonly isUnderTest: boolean;
  readonly prompts: readonly PromptTemplate[];
  readonly mcpResources: McpResources | null;
  readonly mcpPrompts: McpPrompts | null;
  /** These replace node types of the host with the same id. */
  nodeTypes(ports: NodeTypePorts): readonly NodeType[];
  performers(ports: PerformerPorts): readonly Performer[];
  routes(ports: RoutePorts): readonly Route[];
}

export const noExtension: HostExtension = {
  isUnderTest: false,
  prompts: [],
  mcpResources: null,
  mcpPrompts: null,
  nodeTypes: () => [],
  performers: () => [],
  routes: () => [],
};
