/** Runs a scripted supervisor, a dispatch node and workers on a separate engine. */
import { hash } from 'node:crypto';
import type { Json, JsonObject, OrchestratorDecision, RunId, WorkflowDefinition } from '@cairn/protocol';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import { dispatch } from '../../engine/nodes/dispatch.ts';
import type { Step } from '../../engine/ports.ts';
import { createEngine } from '../../engine/stepping/runtime.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { testLoopOptions } from '../loop/agent-script.kit.ts';
import { createSupervisor } from './supervisor.ts';

export const worker = (id: string, nodes: Parameters<typeof defineWorkflow>[0]['nodes'], made?: string) =>
  defineWorkflow({
    id,
    version: '1',
    nodes,
    variables: made === undefined ? {} : { made: { type: 'string', defaultValue: made } },
  });

export const noop = (id: string, made?: string) => worker(id, { a: { type: 'core.noop' } }, made);

/** A workflow of a supervisor with this plan and a dispatch node that loops back to it. */
export const supervised = (
  plan: readonly OrchestratorDecision[],
  config: JsonObject = {},
  more: Partial<WorkflowDefinition> = {},
) => ({
  ...defineWorkflow({
    id: 'conformance-crew',
    version: '1',
    nodes: {
      boss: { type: 'core.orchestrator.supervisor', config: { mockDispatchPlan: plan as Json } },
      dispatch: { type: 'core.dispatch', config },
    },
    edges: [
      { from: 'boss', to: 'dispatch' },
      { from: 'dispatch', to: 'boss' },
    ],
  }),
  ...more,
});

export const send = (...nextWorkerIds: string[]): OrchestratorDecision => ({ kind: 'next-worker', nextWorkerIds });
export const over: OrchestratorDecision = { kind: 'terminate', reason: 'goal-reached' };

export async function startEngine(
  definition: WorkflowDefinition,
  workers: readonly WorkflowDefinition[],
  steps: readonly Step[] = [],
) {
  const store = inMemoryStore();
  let ids = 0;
  const clock = new VirtualClock(1_000_000);
  const engine = createEngine({
    store,
    clock,
    uniqueId: () => String(++ids),
    sha256: (text, encoding) => hash('sha256', text, encoding),
    owner: 'a',
    steps,
    nodeTypes: [createSupervisor(testLoopOptions({ isConformanceHost: true })), dispatch],
    limits: { maxNodeExecutions: 100, maxRunDurationMs: null },
    report: () => undefined,
  });
  for (const one of [definition, ...workers]) await engine.register('t', one);
  const rows = (runId: RunId) => rowsOf(store, runId);
  const of = async (runId: RunId, type: string) =>
    (await rows(runId)).filter((row) => row.type === type).map((row) => JSON.parse(row.payload) as JsonObject);
  const until = async (runId: RunId, type: string) => {
    while (!(await rows(runId)).some((row) => row.type === type)) await new Promise((next) => setImmediate(next));
  };
  const start = async (configurable: JsonObject = {}) =>
    (await engine.start({ tenant: 't', workflowId: definition.id, inputs: {}, options: { configurable } })).runId;
  return { engine, clock, rows, of, until, start };
}

export const child = (runId: RunId, index: number) => `${runId}.${index}` as RunId;
