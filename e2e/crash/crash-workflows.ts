/** The workflows of the load. Each definition depends on one mechanism that a crash could break. */
import type { JsonObject, WorkflowDefinition, WorkflowEdge, WorkflowNode } from '@cairn/protocol';
import type { StepSafety } from '../../packages/host/src/index.ts';
import { stepType } from './crash-steps.ts';

type Part = Partial<WorkflowNode> & Pick<WorkflowNode, 'id' | 'typeId'>;

const node = (part: Part): WorkflowNode => ({
  name: part.id,
  position: { x: 0, y: 0 },
  config: {},
  inputs: {},
  ...part,
});

const step = (
  id: string,
  safety: StepSafety,
  config: { readonly ms?: number; readonly fails?: number } = {},
): Part => ({
  id,
  typeId: stepType(safety),
  config: { ms: 1, fails: 0, ...config },
  settings: { retry: { maxRetries: 5, backoffMs: 20, factor: 1 } },
});

interface Shape {
  readonly nodes: readonly Part[];
  /** `from -> to`, or `from.port -> to`. */
  readonly edges: readonly string[];
  readonly variables?: WorkflowDefinition['variables'];
}

function define(id: string, { nodes, edges, variables = [] }: Shape): WorkflowDefinition {
  return {
    id,
    name: id,
    version: '1',
    nodes: nodes.map(node),
    edges: edges.map(edge),
    triggers: [{ id: 'manual', type: 'manual' }],
    variables: [...variables],
    metadata: {},
    settings: { timeout: 0 },
  };
}

function edge(text: string): WorkflowEdge {
  const [, from = '', port, to = ''] = /^([\w-]+)(?:\.([\w-]+))? -> ([\w-]+)$/.exec(text) ?? [];
  const output = port === undefined ? {} : { sourceOutput: port };
  return { id: text.replaceAll(/[^\w-]/g, '_'), sourceNodeId: from, targetNodeId: to, ...output };
}

const chain = (ids: readonly string[]): string[] => ids.slice(1).map((id, index) => `${ids[index]} -> ${id}`);

const tenSafeties: readonly StepSafety[] = [
  'read', 'pure', 'write', 'idempotent', 'read', 'write', 'pure', 'read', 'idempotent', 'write',
]; // biome-ignore format: one line reads as the order it is

const ten = tenSafeties.map((safety, index) => step(`s${index}`, safety, { ms: index % 3 }));

export const crashWorkflows: readonly WorkflowDefinition[] = [
  define('crash-steps', { nodes: ten, edges: chain(ten.map(({ id }) => id)) }),
  define('crash-gates', {
    nodes: [
      step('before', 'read'),
      { id: 'approve', typeId: 'core.approvalGate', config: { title: 'Go on?', actions: ['accept', 'reject'] } },
      { id: 'ask', typeId: 'core.clarificationGate', config: { questions: [{ id: 'q1', question: 'Which?' }] } },
      step('after', 'write', { ms: 10 }),
    ],
    edges: chain(['before', 'approve', 'ask', 'after']),
  }),
  define('crash-delays', {
    nodes: [
      { id: 'first', typeId: 'core.delay', config: { delayMs: 150 } },
      step('between', 'idempotent', { ms: 5 }),
      { id: 'second', typeId: 'core.delay', config: { delayMs: 60 } },
    ],
    edges: chain(['first', 'between', 'second']),
  }),
  define('crash-retries', {
    nodes: [step('shaky', 'read', { fails: 2 }), step('calm', 'pure')],
    edges: chain(['shaky', 'calm']),
  }),
  define('crash-loop', {
    nodes: [
      { id: 'loop', typeId: 'core.loop', config: { times: 4 } },
      step('body', 'read'),
      step('last', 'write', { ms: 8 }),
    ],
    edges: ['loop.body -> body', 'body -> loop', 'loop.done -> last'],
  }),
  define('crash-fan', {
    nodes: [
      { id: 'fan', typeId: 'core.parallel' },
      step('a', 'pure'),
      step('b', 'read', { ms: 12 }),
      step('c', 'write', { ms: 6 }),
      step('d', 'idempotent', { ms: 3 }),
      { id: 'join', typeId: 'core.merge' },
    ],
    edges: [...['a', 'b', 'c', 'd'].flatMap((id) => [`fan -> ${id}`, `${id} -> join`])],
  }),
  define('crash-bulk', {
    nodes: [
      { id: 'carry', typeId: 'core.identity', inputs: { blob: { type: 'variable', variableName: 'blob' } } },
      step('after', 'read'),
    ],
    edges: chain(['carry', 'after']),
    variables: [{ name: 'blob', type: 'string', required: true }],
  }),
];

/** The inputs of a workflow. The bulk input fills the write-ahead log, so that checkpoints happen under load. */
export const inputsOf = (workflowId: string): JsonObject =>
  workflowId === 'crash-bulk' ? { blob: 'cairn '.repeat(36_000) } : {};
