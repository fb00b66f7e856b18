/** The workflow of a run as a graph, with the state of each node. Loaded when it is opened first: the canvas is large. */
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { NodeState, NodeStates } from '../../folds/node-states.ts';
import { shortAgent } from '../../parts/figures.ts';
import { Problem } from '../../parts/problem.tsx';
import { StateMark, toneOf } from '../marks.tsx';
import type { RunState } from '../run-state.ts';
import { span } from '../words.ts';
import { type Direction, type GraphNode, graphOf, NODE_HEIGHT, NODE_WIDTH, type WorkflowGraph } from './graph.ts';

type StepNode = Node<
  { readonly node: GraphNode; readonly state: NodeState | undefined; readonly direction: Direction },
  'step'
>;

const nodeTypes = { step: StepBox };

export function WorkflowTab({ state }: { readonly state: RunState }) {
  const { client, fold, history } = state;
  const first = history.rows[0];
  const started = first?.type === 'run.started' ? first.payload : undefined;
  const workflowId = started?.workflowId ?? state.data.snapshot?.workflowId;
  const version = started?.workflowVersion;
  const definition = useQuery({
    queryKey: ['workflow', workflowId, version],
    queryFn: ({ signal }) =>
      client.workflows.get(workflowId ?? '', { signal, ...(version !== undefined && { version }) }),
    enabled: workflowId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const direction = matchMedia('(max-width: 640px)').matches ? 'down' : 'right';
  const graph = useMemo(
    () => (definition.data === undefined ? null : graphOf(definition.data, direction)),
    [definition.data, direction],
  );
  if (definition.error !== null) return <NoGraph error={definition.error} state={state} />;
  if (graph === null) return <p className="run-empty second">Reading the definition…</p>;
  return (
    <div className="workflow">
      <ReactFlow
        nodes={nodesOf(graph, fold.nodes, direction)}
        edges={edgesOf(graph, fold.nodes)}
        nodeTypes={nodeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.1 }}
        minZoom={0.1}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, { id }) => {
          const seq = fold.nodes.nodes.get(id)?.seq;
          if (seq !== undefined) state.select(seq);
        }}
      >
        <Background gap={20} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

const nodesOf = ({ nodes }: WorkflowGraph, states: NodeStates, direction: Direction): StepNode[] =>
  nodes.map((node) => ({
    id: node.id,
    type: 'step',
    position: { x: node.x, y: node.y },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    ariaLabel: `${node.name}: ${states.nodes.get(node.id)?.status ?? 'not started'}`,
    data: { node, state: states.nodes.get(node.id), direction },
  }));

/** An arrow head has the colour of its line. */
const heads = {
  open: 'var(--line-strong)',
  taken: 'var(--done)',
  failed: 'var(--failed)',
  'not-taken': 'var(--line-strong)',
} as const;

const edgesOf = ({ edges }: WorkflowGraph, states: NodeStates): Edge[] =>
  edges.map(({ id, source, target, label }) => {
    const outcome = states.edges.get(id) ?? 'open';
    return {
      id,
      source,
      target,
      label,
      className: `edge-${outcome}`,
      markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: heads[outcome] },
    };
  });

function StepBox({ data: { node, state, direction } }: NodeProps<StepNode>) {
  return (
    <div
      className="step-box"
      data-tone={state === undefined ? 'none' : toneOf(state.status)}
      data-started={state !== undefined}
    >
      <Handle type="target" position={direction === 'right' ? Position.Left : Position.Top} isConnectable={false} />
      <strong className="cut" title={node.name}>
        {node.name}
      </strong>
      <div className="step-line label">
        <span className="cut grow">{node.agentId === undefined ? node.typeId : shortAgent(node.agentId)}</span>
        <span className="figure">{state === undefined ? '' : factsOf(state)}</span>
        <StateMark status={state?.status ?? 'none'} label={state === undefined ? 'not started' : state.status} />
      </div>
      <Handle type="source" position={direction === 'right' ? Position.Right : Position.Bottom} isConnectable={false} />
    </div>
  );
}

function factsOf({ visits, attempts, startedAt, endedAt }: NodeState): string {
  const facts = [
    visits > 1 ? `visit ${visits}` : '',
    attempts > 1 ? `attempt ${attempts}` : '',
    endedAt === null ? '' : span(endedAt - startedAt),
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

/** A run of one agent, or an imported run, has no definition at this host. Its nodes are still known. */
function NoGraph({ error, state }: { readonly error: unknown; readonly state: RunState }) {
  return (
    <div className="run-scroll run-empty">
      <Problem error={error} />
      <ul className="node-list">
        {[...state.fold.nodes.nodes].map(([id, node]) => (
          <li key={id}>
            <button type="button" className="seq-link" onClick={() => state.select(node.seq)}>
              <StateMark status={node.status} /> <strong>{id}</strong> <span className="label">{node.typeId}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
