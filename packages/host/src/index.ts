/** The public surface of `@cairn/host`: everything exported here, and nothing else. */
export {
  type AuthoredWorkflow,
  CairnError,
  type EdgeCondition,
  type ErrorCode,
  isCairnError,
  type Json,
  type JsonObject,
  type PortValue,
  RetryableError,
  type RunId,
  TerminalError,
  type TriggerRule,
  type WorkflowDefinition,
  type WorkflowVariable,
} from '@cairn/protocol';
/** The zod that this host uses, so that a program needs no copy of its own. */
export { z } from 'zod';
export { type AgentOptions, type DefinedAgent, defineAgent } from './agents/define-agent.ts';
export { defineWorkflow, type NodeConfigs, type NodeOptions, type WorkflowOptions } from './agents/define-workflow.ts';
export type { PromptTemplate } from './agents/prompts/prompt-template.ts';
export type {
  ArtifactDataset,
  ArtifactFile,
  ArtifactOptions,
  ArtifactRef,
  DatasetOptions,
  FileOptions,
} from './agents/tools/artifact-port.ts';
export type { ThoughtOptions } from './agents/tools/call-artifacts.ts';
export { defineTool, type ToolOptions } from './agents/tools/define-tool.ts';
export type { AskQuestion, SignInRequest, Tool, ToolContext } from './agents/tools/tool.ts';
export type { AnswerInterrupt, CancelRun, Engine, StartRun } from './engine/engine.ts';
export type { Report, Step, StepContext, StepSafety } from './engine/ports.ts';
export { type DefinedStep, defineStep, type StepOptions } from './engine/workflow/define-step.ts';
export {
  type EdgeOptions,
  expression,
  fixed,
  type OutputRef,
  outputOf,
  variable,
} from './engine/workflow/define-workflow.ts';
export type { ConfigInput } from './server/config/config.ts';
export { createHost, type Host, type HostOptions } from './server/create-host.ts';
export { type App, defineApp } from './server/define-app.ts';
export { createTestHost, type TestHost, type TestHostOptions } from './testing/test-host.ts';
