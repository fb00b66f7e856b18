import type { WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { scriptNodeTypes, workflowOf } from '../../../test/kit/run-script.ts';
import type { NodeOptions } from './define-workflow.ts';
import { checkDefinition, definitionText } from './registration.ts';

const noop = 'core.noop';

function refusal(definition: WorkflowDefinition): { code: string; message: string; details: Record<string, unknown> } {
  try {
    checkDefinition(definition, scriptNodeTypes);
  } catch (error) {
    return error as never;
  }
  throw new Error('it was registered');
}
const problems = (definition: WorkflowDefinition) => {
  const { code, details } = refusal(definition);
  expect(code).toBe('validation_error');
  return details.problems as string[];
};
const one = (node: NodeOptions, more: Partial<WorkflowDefinition> = {}) => workflowOf({ a: node }, undefined, more);

test('a sound definition is accepted', () => {
  expect(() => checkDefinition(workflowOf({ a: noop, b: noop }), scriptNodeTypes)).not.toThrow();
});

test.each([
  ['core.orchestrator.supervisor', 'orchestrator'],
  ['core.dispatch', 'dispatch'],
])('%s is refused as needing the capability %s', (typeId, requiredCapability) => {
  const { code, details } = refusal(one({ type: typeId }));
  expect(code).toBe('capability_required');
  expect(details).toEqual({ requiredCapability, offendingTypeId: typeId, nodeId: 'a' });
});

test('an unknown type is named with its node', () => {
  expect(problems(one({ type: 'core.nope' }))).toEqual([
    'nodes[0].typeId (node a): the type core.nope is not known; did you mean core.noop?',
  ]);
});

describe('sensitive values', () => {
  const variables = [{ name: 'v', type: 'string' as const, sensitive: true }];
  const outputSensitivity = { o: true };

  test('may be variables and outputs of steps', () => {
    const definition = one({ type: 'local.step.read' }, { variables });
    const nodes = definition.nodes.map((node) => ({ ...node, outputSensitivity }));
    expect(() => checkDefinition({ ...definition, nodes }, scriptNodeTypes)).not.toThrow();
  });

  test('may not be channels or outputs of other nodes', () => {
    const channels = { c: { reducer: 'append', sensitive: true } };
    expect(refusal(one({ type: noop }, { channels })).code).toBe('capability_required');
    const definition = one({ type: noop });
    const nodes = definition.nodes.map((node) => ({ ...node, outputSensitivity }));
    expect(refusal({ ...definition, nodes }).details).toMatchObject({ problems: ['outputs of node a'] });
  });

  test('are never part of a definition', () => {
    const withDefault = variables.map((variable) => ({ ...variable, defaultValue: 'x' }));
    expect(problems(one({ type: noop }, { variables: withDefault }))).toEqual([
      expect.stringMatching(/^variables\[0\]\.defaultValue: the variable v is sensitive/),
    ]);
    const set = { type: 'core.setVariable', config: { name: 'v', value: 'x' } };
    expect(problems(one(set, { variables }))).toEqual([
      expect.stringMatching(/^nodes\[0\]\.config\.value \(node a\): the variable v is sensitive/),
    ]);
  });

  test('are not read by conditions, which would compare the mask', () => {
    const reads = 'reads the sensitive variable v';
    const definition = workflowOf({ a: noop, b: noop }, undefined, { variables });
    for (const condition of [
      { type: 'expression' as const, expression: 'variables.v == "x"' },
      { type: 'equals' as const, left: 'variables.v', right: 'x' },
      { type: 'expression' as const, expression: 'inputs["v"] != ""' },
    ]) {
      const edges = definition.edges.map((edge) => ({ ...edge, condition }));
      expect(problems({ ...definition, edges })).toEqual([expect.stringContaining(reads)]);
    }
    const node = { type: 'core.conditional', config: { expression: 'variables.v == "x"' } };
    expect(problems(one(node, { variables }))).toContainEqual(expect.stringContaining(reads));
  });
});

test('an agent by channel is refused', () => {
  const definition = one({ type: noop });
  const nodes = definition.nodes.map((node) => ({ ...node, agent: { agentId: 'host:abc', channel: 'stable' } }));
  expect(problems({ ...definition, nodes })[0]).toMatch(/agent.channel/);
});

describe('the agent of a node', () => {
  const named = (agentId: string) => {
    const definition = one({ type: noop });
    return problems({ ...definition, nodes: definition.nodes.map((node) => ({ ...node, agent: { agentId } })) });
  };

  test.each(['host:desk', 'core.chat', 'core.conformance.identity-agent', 'vendor.acme.desk.triage', 'local.a.bC'])(
    'may be %s',
    (agentId) => {
      expect(() => named(agentId)).toThrow('it was registered');
    },
  );

  test.each([
    ['host:did:5f3a', /an id that only the host gives/],
    ['host:a2a:peer.example:writer', /an id that only the host gives/],
    ['host:agntcy:gateway:writer', /an id that only the host gives/],
    ['host:prompt:a', /an id that only the host gives/],
    ['core.system', /an id that only the host gives/],
    ['did:web:acme.example', /the id of another system; define an agent host:<name> for it/],
    ['agent', /must be host:<name>, or begin with core\./],
    ['Vendor.acme.desk', /must be host:<name>/],
    ['vendor.acme..desk', /must be host:<name>/],
    ['vendor.acme.desk ', /must be host:<name>/],
    ['other.acme.desk', /must be host:<name>/],
    ['host:', /must be host:<name>/],
  ])('may not be %j', (agentId, why) => {
    expect(named(agentId)[0]).toMatch(why);
    expect(named(agentId)[0]).toContain(`nodes[0].agent.agentId (node a): ${agentId} `);
  });
});

describe('names', () => {
  test('are there once', () => {
    const definition = workflowOf({ a: noop, b: noop });
    const variable = { name: 'v', type: 'string' as const };
    const twice = {
      ...definition,
      nodes: [...definition.nodes, ...definition.nodes.slice(0, 1)],
      edges: [...definition.edges, ...definition.edges],
      variables: [variable, variable],
    };
    expect(problems(twice)).toEqual([
      'nodes[2].id: node a is there twice',
      'edges[1].id: edge a-b is there twice',
      'variables[1].name: variable v is there twice',
    ]);
  });

  test('of edges and connections must exist', () => {
    const definition = workflowOf({ a: noop });
    const edges = [{ id: 'e', sourceNodeId: 'a', targetNodeId: 'ghost' }];
    expect(problems({ ...definition, edges })).toEqual([
      'edges[0].targetNodeId (edge e): it names the unknown node ghost',
    ]);
    const inputs = { x: { type: 'connection' as const, nodeId: 'ghost', outputKey: 'y' } };
    expect(problems(one({ type: noop, inputs }))[0]).toMatch(
      /^nodes\[0]\.inputs\.x \(node a\): input x names the unknown node ghost/,
    );
  });

  test('that every object has are reserved', () => {
    expect(problems(workflowOf({ constructor: noop } as never))).toEqual([
      'nodes[0].id: the name constructor is reserved',
    ]);
  });
});

describe('graphs', () => {
  test('must be reachable as a whole', () => {
    const edges = [
      { from: 'b', to: 'c' },
      { from: 'c', to: 'b' },
    ] as const;
    expect(problems(workflowOf({ a: noop, b: noop, c: noop }, edges))).toEqual([
      'nodes[1] (node b): it cannot be reached from a',
      'nodes[2] (node c): it cannot be reached from a',
    ]);
  });

  test('may be one single loop', () => {
    const edges = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a', when: 'false' },
    ] as const;
    expect(() => checkDefinition(workflowOf({ a: noop, b: noop }, edges), scriptNodeTypes)).not.toThrow();
  });

  test('must not jump into the middle of a loop', () => {
    const edges = [
      { from: 's', to: 'l' },
      { from: 'l', to: 'b' },
      { from: 'b', to: 'l', when: 'false' },
      { from: 's', to: 'b' },
    ] as const;
    expect(problems(workflowOf({ s: noop, l: noop, b: noop }, edges))).toEqual([
      'nodes[1] (node l): its loop can be entered elsewhere than at l',
    ]);
  });
});

describe('what users write', () => {
  const edge = (when: NonNullable<Parameters<typeof workflowOf>[1]>[number]['when']) =>
    workflowOf({ a: noop, b: noop }, [{ from: 'a', to: 'b', ...(when === undefined ? {} : { when }) }]);

  test.each([
    ['an expression that does not parse', edge('1 +')],
    ['an expression with an unknown name', edge('secrets.x == 1')],
    ['a pattern that RE2 refuses', edge({ type: 'regex', left: 'x', right: '(a)\\1' })],
    ['a condition without operands', edge({ type: 'equals' })],
    ['an input expression', one({ type: noop, inputs: { x: { type: 'expression', expression: '))' } } })],
    ['a schema that is none', one({ type: noop }, { configurableSchema: { type: 'nonsense' } })],
    ['a schema that refers elsewhere', one({ type: noop }, { configurableSchema: { $ref: 'https://example.org/x' } })],
    ['a channel schema', one({ type: noop }, { channels: { c: { reducer: 'append', schema: { type: 7 } } } })],
    [
      'a question schema',
      one({ type: 'core.clarificationGate', config: { questions: [{ id: 'q', question: '?', schema: { type: 1 } }] } }),
    ],
    ['no questions', one({ type: 'core.clarificationGate' })],
    ['an action that is none', one({ type: 'core.approvalGate', config: { actions: ['dance'] } })],
    ['an interrupt of an agent', one({ type: 'core.interrupt', config: { kind: 'low-confidence', data: {} } })],
    ['data of another kind', one({ type: 'core.interrupt', config: { kind: 'external-event', data: { x: 1 } } })],
    ['a negative timeout', one({ type: noop, settings: { timeoutMs: -1 } })],
    ['a retry that is none', one({ type: noop, settings: { retry: 3 } })],
    ['a delay without a length', one({ type: 'core.delay' })],
    ['a loop of two kinds', one({ type: 'core.loop', config: { times: 1, items: [] } })],
    ['a conditional without a question', one({ type: 'core.conditional' })],
    ['a variable without a name', one({ type: 'core.setVariable', config: { value: 1 } })],
    ['a write to nothing', one({ type: 'core.channelWrite', config: { value: 1 } })],
    ['an unknown reducer', one({ type: 'core.channelWrite', config: { channelName: 'c', value: 1, reducer: 'sum' } })],
  ])('is checked: %s', (_, definition) => {
    expect(problems(definition).length).toBeGreaterThan(0);
  });

  test('an edge that leaves a conditional or a loop by no port of theirs is a mistake', () => {
    const definition = workflowOf({ a: { type: 'core.conditional', config: { expression: 'true' } }, b: noop });
    expect(problems(definition)).toEqual([
      'nodes[0] (node a): edge a-b must leave core.conditional by sourceOutput true or false',
    ]);
  });
});

test('equal definitions have equal texts, whatever the order of their keys', () => {
  const definition = workflowOf({ a: noop });
  const turned = Object.fromEntries(Object.entries(definition).reverse()) as WorkflowDefinition;
  expect(definitionText(turned)).toBe(definitionText(definition));
});
