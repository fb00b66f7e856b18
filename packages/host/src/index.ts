/** The public surface of `@cairn/host`: everything exported here, and nothing else. */
export { type AgentOptions, type DefinedAgent, defineAgent } from './agents/define-agent.ts';
export type { PromptTemplate } from './agents/prompts/prompt-template.ts';
export { defineTool, type ToolOptions } from './agents/tools/define-tool.ts';
export type { AskQuestion, SignInRequest, Tool, ToolContext } from './agents/tools/tool.ts';
export type { AnswerInterrupt, CancelRun, Engine, StartRun } from './engine/engine.ts';
export type { Report, Step, StepContext, StepSafety } from './engine/ports.ts';
export { type DefinedStep, defineStep, type StepOptions } from './engine/workflow/define-step.ts';
export {
  defineWorkflow,
  type EdgeOptions,
  expression,
  fixed,
  type NodeOptions,
  outputOf,
  variable,
  type WorkflowOptions,
} from './engine/workflow/define-workflow.ts';
export type { ConfigInput } from './server/config/config.ts';
export { createHost, type Host, type HostOptions } from './server/create-host.ts';
