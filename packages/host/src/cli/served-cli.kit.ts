/** A real host on a free loopback port, with workflows for the verbs to meet, and the command line pointed at it; not shipped. */
import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { onTestFinished } from 'vitest';
import { inMemoryStore } from '../log/in-memory/store.ts';
import type { Store } from '../log/ports/store.ts';
import { scopes } from '../server/access/auth.ts';
import { createHostOver, type HostOptions } from '../server/create-host.ts';
import { demoWorkflows } from './demo-workflows.ts';
import { type Ended, type Typed, typed } from './recording-terminal.kit.ts';

export const key = 'a-key-for-the-command-line';
export const readerKey = 'a-key-that-only-reads';
export const bobKey = 'a-key-for-bob-who-approves';
export const eveKey = 'a-key-for-eve-who-may-not';

interface Step {
  readonly id: string;
  readonly typeId: string;
  readonly config?: JsonObject;
}

/** Nodes in a row, or side by side. */
export function workflow(
  id: string,
  steps: readonly Step[],
  fields: Partial<WorkflowDefinition> = {},
): WorkflowDefinition {
  return {
    id,
    name: id,
    version: '1',
    nodes: steps.map(({ id: node, typeId, config = {} }, i) => ({
      id: node,
      typeId,
      name: node,
      position: { x: i, y: 0 },
      config,
      inputs: {},
    })),
    edges: steps.slice(1).map(({ id: node }, i) => ({
      id: `e${i}`,
      sourceNodeId: steps[i]?.id ?? '',
      targetNodeId: node,
    })),
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
    ...fields,
  };
}

export const trip = workflow('trip', [
  {
    id: 'details',
    typeId: 'core.clarificationGate',
    config: {
      questions: [
        { id: 'city', question: 'Where to?' },
        { id: 'nights', question: 'How long?', schema: { type: 'integer' } },
      ],
    },
  },
]);

const quorumGate = { title: 'Pay?', requiredApprovals: 2, approversList: ['ada', 'bob'] };

const workflows: readonly WorkflowDefinition[] = [
  ...demoWorkflows,
  trip,
  workflow('sum', [{ id: 'add', typeId: 'core.setVariable', config: { name: 'n', expression: 'variables.n + 1' } }], {
    variables: [
      { name: 'n', type: 'number', required: true },
      { name: 'label', type: 'string' },
    ],
  }),
  workflow(
    'switches',
    [{ id: 'join', typeId: 'core.setVariable', config: { name: 'text', expression: 'string(inputs.city)' } }],
    {
      variables: [
        { name: 'loud', type: 'boolean' },
        { name: 'count', type: 'number' },
        { name: 'city', type: 'number' },
        { name: 'text', type: 'string', defaultValue: '' },
      ],
    },
  ),
  workflow('broken', [{ id: 'bad', typeId: 'core.setVariable', config: { name: 'x', expression: '1 / 0' } }]),
  workflow(
    'busy-gate',
    [
      { id: 'gate', typeId: 'core.approvalGate', config: { title: 'Go?' } },
      { id: 'work', typeId: 'core.delay', config: { delayMs: 100 } },
    ],
    { edges: [] },
  ),
  workflow('quorum', [{ id: 'gate', typeId: 'core.approvalGate', config: quorumGate }], {
    variables: [
      { name: 'order', type: 'number' },
      { name: 'note', type: 'string', defaultValue: 'fragile' },
    ],
  }),
  workflow('outer', [{ id: 'inner', typeId: 'core.subWorkflow', config: { workflowId: 'review' } }]),
  workflow('outermost', [{ id: 'middle', typeId: 'core.subWorkflow', config: { workflowId: 'outer' } }]),
  workflow('outer-broken', [{ id: 'inner', typeId: 'core.subWorkflow', config: { workflowId: 'broken' } }]),
  workflow('talk', [{ id: 'chat', typeId: 'core.conversationGate', config: { prompt: 'What shall we build?' } }]),
  workflow('slow', [{ id: 'wait', typeId: 'core.delay', config: { delayMs: 3_600_000 } }]),
  workflow(
    'two-gates',
    [
      { id: 'left', typeId: 'core.approvalGate', config: { title: 'Left?', actions: ['accept', 'refine'] } },
      { id: 'right', typeId: 'core.approvalGate', config: { title: 'Right?' } },
    ],
    { edges: [] },
  ),
];

/** Child runs of these workflows, side by side. */
export const crowd = (id: string, workflowIds: readonly string[]): WorkflowDefinition =>
  workflow(
    id,
    workflowIds.map((workflowId, i) => ({ id: `n${i}`, typeId: 'core.subWorkflow', config: { workflowId } })),
    { edges: [] },
  );

export interface ServedCli {
  readonly url: string;
  /** One command line against this host. */
  cairn(args: readonly string[], how?: Typed): Promise<Ended>;
  /** The id of a run that was started and left alone. */
  detached(...args: readonly string[]): Promise<string>;
}

export async function servedCli(
  store: Store = inMemoryStore(),
  options: Pick<HostOptions, 'allowUnsignedPacks' | 'agents' | 'tools' | 'prompts' | 'workflows'> = {},
): Promise<ServedCli> {
  const host = await createHostOver(store, {
    config: {
      port: 0,
      keys: [
        { key, tenant: 'dev', principal: 'ada', scopes: [...scopes] },
        { key: readerKey, tenant: 'dev', scopes: ['runs:read', 'runs:create'] },
        { key: bobKey, tenant: 'dev', principal: 'bob' },
        { key: eveKey, tenant: 'dev', principal: 'eve' },
      ],
    },
    ...options,
    workflows: [...workflows, ...(options.workflows ?? [])],
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  const url = host.url ?? '';
  const cairn = (args: readonly string[], how: Typed = {}) =>
    typed(args, { ...how, env: { CAIRN_URL: url, CAIRN_KEY: key, ...how.env } });
  return {
    url,
    cairn,
    detached: async (...args) => (await cairn(['run', ...args, '--detach'])).out,
  };
}
