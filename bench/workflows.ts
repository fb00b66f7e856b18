/** The workflow definitions the benchmarks run. */
import type { WorkflowDefinition } from '@cairn/protocol';
import { present } from '../packages/host/test/kit/present.ts';

type Node = WorkflowDefinition['nodes'][number];
type Edge = WorkflowDefinition['edges'][number];

/** The step the host defines. It returns about 220 bytes immediately. */
export const STEP_NAME = 'bench';
const STEP_TYPE = `local.step.${STEP_NAME}`;

const node = (id: string, typeId: string, config: Node['config'] = {}): Node => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config,
  inputs: {},
});

const edge = (sourceNodeId: string, targetNodeId: string, more: Partial<Edge> = {}): Edge => ({
  id: `${sourceNodeId}-${targetNodeId}`,
  sourceNodeId,
  targetNodeId,
  ...more,
});

const workflow = (id: string, nodes: readonly Node[], edges: readonly Edge[]): WorkflowDefinition => ({
  id,
  name: id,
  version: '1',
  nodes: [...nodes],
  edges: [...edges],
  triggers: [],
  variables: [],
  metadata: {},
  settings: { timeout: 0 },
});

function tenSteps(): WorkflowDefinition {
  const ids = Array.from({ length: 10 }, (_, n) => `step-${n + 1}`);
  const nodes = ids.map((id) => node(id, STEP_TYPE));
  return workflow(
    'bench-ten-steps',
    nodes,
    ids.slice(1).map((id, n) => edge(present(ids[n]), id)),
  );
}

/** A loop whose body is entered `times` times. */
function loop(id: string, bodyType: string, times: number): WorkflowDefinition {
  const nodes = [node('again', 'core.loop', { times }), node('body', bodyType), node('end', 'core.noop')];
  return workflow(id, nodes, [
    edge('again', 'body', { sourceOutput: 'body' }),
    edge('body', 'again'),
    edge('again', 'end', { sourceOutput: 'done' }),
  ]);
}

/** Events per loop iteration: start and end of the loop node and of its body. A step adds request and result. */
const PURE_TURN = 4;
const STEP_TURN = 6;

export const workflows: readonly WorkflowDefinition[] = [
  tenSteps(),
  workflow('bench-one-step', [node('step', STEP_TYPE)], []),
  workflow('bench-gate', [node('gate', 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'] })], []),
  ...[1_000, 10_000, 100_000].flatMap((events) => [
    loop(`bench-loop-${events}`, 'core.noop', Math.round(events / PURE_TURN)),
    loop(`bench-step-loop-${events}`, STEP_TYPE, Math.round(events / STEP_TURN)),
  ]),
];
