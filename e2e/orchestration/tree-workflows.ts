/**
 * A tree of forty runs on three levels that never ends by itself: long steps, delays, questions, and runs that complete
 * immediately.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { defineStep, type Step } from '../../packages/host/src/index.ts';

interface Node {
  readonly id: string;
  readonly typeId: string;
  readonly config?: JsonObject;
}

function workflow(id: string, nodes: readonly Node[], edges: readonly (readonly [string, string])[] = []) {
  const definition: WorkflowDefinition = {
    id,
    name: id,
    version: '1',
    nodes: nodes.map(({ id: node, typeId, config = {} }, x) => ({
      id: node,
      typeId,
      name: node,
      position: { x, y: 0 },
      config,
      inputs: {},
    })),
    edges: edges.map(([sourceNodeId, targetNodeId]) => ({
      id: `${sourceNodeId}-${targetNodeId}`,
      sourceNodeId,
      targetNodeId,
    })),
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  };
  return definition;
}

/** The single decision of a supervisor, and the dispatch that carries it out. */
const crew = (nextWorkerIds: readonly string[]): readonly Node[] => [
  {
    id: 'lead',
    typeId: 'core.orchestrator.supervisor',
    config: { mockDecisions: [{ kind: 'next-worker', nextWorkerIds: [...nextWorkerIds] }] },
  },
  { id: 'send', typeId: 'core.dispatch', config: { fanOutPolicy: 'parallel', joinPolicy: 'all' } },
];

const sub = (id: string, workflowId: string): Node => ({ id, typeId: 'core.subWorkflow', config: { workflowId } });

const leaves = ['leaf-asks', 'leaf-waits', 'leaf-works', 'leaf-is-deaf', 'leaf-goes-on', 'leaf-is-done'] as const;

const ROOT = 'cancel-tree';

/** 1 root, 3 branches, 12 leaves each. */
export const TREE_RUNS = 40;

export const treeWorkflow = ROOT;

export const treeWorkflows: readonly WorkflowDefinition[] = [
  workflow(ROOT, crew(['branch', 'branch', 'branch']), [['lead', 'send']]),
  workflow('branch', [...crew([...leaves]), ...leaves.map((leaf, i) => sub(`sub${i}`, leaf))], [['lead', 'send']]),
  workflow('leaf-asks', [{ id: 'ask', typeId: 'core.approvalGate', config: { title: 'Go on?' } }]),
  workflow('leaf-waits', [{ id: 'wait', typeId: 'core.delay', config: { delayMs: 3_600_000 } }]),
  workflow('leaf-works', [{ id: 'work', typeId: 'local.step.obedient' }]),
  workflow('leaf-is-deaf', [{ id: 'work', typeId: 'local.step.deaf' }]),
  workflow(
    'leaf-goes-on',
    [
      { id: 'short', typeId: 'local.step.short' },
      { id: 'soon', typeId: 'core.delay', config: { delayMs: 40 } },
      { id: 'write', typeId: 'local.step.writes' },
      { id: 'ask', typeId: 'core.clarificationGate', config: { questions: [{ id: 'q', question: 'Which?' }] } },
    ],
    [
      ['short', 'soon'],
      ['soon', 'write'],
      ['write', 'ask'],
    ],
  ),
  workflow('leaf-is-done', [{ id: 'done', typeId: 'core.noop' }]),
];

/** One step that stops when aborted, one that ignores aborts, and two short ones. */
export function treeSteps(closing: AbortSignal): readonly Step[] {
  return [
    defineStep({
      name: 'obedient',
      safety: 'pure',
      run: (_input, { signal }) => pause(3_600_000, {}, { signal, ref: false }),
    }),
    defineStep({
      name: 'deaf',
      safety: 'pure',
      run: () => pause(3_600_000, {}, { signal: closing, ref: false }),
    }),
    defineStep({ name: 'short', safety: 'read', run: (_input, { signal }) => pause(15, {}, { signal }) }),
    defineStep({ name: 'writes', safety: 'write', run: () => pause(10, {}) }),
  ];
}
