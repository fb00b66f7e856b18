/** The public surface of `@cairn/host`: everything exported here, and nothing else. */

export { defineStep } from './engine/define-step.ts';
export { defineWorkflow } from './engine/define-workflow.ts';
export type { Engine } from './engine/engine.ts';
export type { Report, Step, StepContext, StepSafety } from './engine/ports.ts';
export type { ConfigInput } from './server/config.ts';
export { createHost, type Host, type HostOptions } from './server/create-host.ts';
