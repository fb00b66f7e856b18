import type { Json, WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { RunScript, scriptNodeTypes, workflowOf } from '../../../test/kit/run-script.ts';
import {
  defineWorkflow,
  type EdgeOptions,
  expression,
  fixed,
  type NodeOptions,
  outputOf,
  variable,
} from './define-workflow.ts';
import { checkDefinition } from './registration.ts';

function problems(definition: WorkflowDefinition): readonly string[] {
  try {
    checkDefinition(definition, scriptNodeTypes);
    return [];
  } catch (error) {
    return (error as { details: { problems: string[] } }).details.problems;
  }
}

const greeting = [{ name: 'greeting', type: 'string' as const }];
const of = (nodes: Record<string, NodeOptions>, edges?: readonly EdgeOptions<string>[]) =>
  problems(workflowOf(nodes, edges, { variables: greeting }));
const noop: NodeOptions = { type: 'core.noop' };

describe('a variable that does not exist is refused, with the nearest one', () => {
  const wrong = expect.stringContaining('there is no variable greting; did you mean greeting?');
  test.each<[string, NodeOptions]>([
    ['an input', { ...noop, inputs: { a: variable('greting') } }],
    ['an optional input that is nearly right', { ...noop, inputs: { a: { ...variable('greting'), optional: true } } }],
    ['an expression of an input', { ...noop, inputs: { a: expression('1 + size(variables.greting)') } }],
    ['an index in an expression', { ...noop, inputs: { a: expression('variables["greting"]') } }],
    ['a setting', { type: 'core.setVariable', config: { name: 'x', expression: 'variables.greting' } }],
    ['a condition', { type: 'core.loop', config: { whileExpression: 'variables.greting == ""' } }],
    ['getVariable', { type: 'core.getVariable', config: { name: 'greting' } }],
    ['a mapping', { type: 'core.subWorkflow', config: { workflowId: 'kid', inputMapping: { a: 'greting' } } }],
  ])('in %s', (_where, node) => {
    expect(of({ a: node })).toEqual([wrong]);
  });

  test('on an edge', () => {
    const edges = [{ from: 'a', to: 'b', when: 'variables.greting == "x"' }];
    expect(of({ a: noop, b: noop }, edges)).toEqual([wrong]);
    const path = [{ from: 'a', to: 'b', when: { type: 'equals' as const, left: 'variables.greting', right: 1 } }];
    expect(of({ a: noop, b: noop }, path)).toEqual([wrong]);
  });
});

test('after many names that are long and alike, names are not compared any more: it would take minutes', () => {
  const long = (of: string, i: number) => `${of}${i}`.padEnd(60, 'abcdefghij');
  const variables = Array.from({ length: 1_000 }, (_, i) => ({ name: long('v', i), type: 'string' as const }));
  const wrong = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `i${i}`,
        { ...variable(`w${i}`.padEnd(60, 'jihgfedcba')), optional: true },
      ]),
    );
  const slip = { slip: { ...variable(`${long('v', 0)}x`), optional: true } };
  const found = (count: number) =>
    problems(workflowOf({ a: { ...noop, inputs: { ...wrong(count), ...slip } } }, [], { variables })).length;
  expect([found(0), found(100)]).toEqual([1, 0]);
});

describe('an input that is nearly a declared one is refused', () => {
  const wrong = expect.stringContaining('there is no input greting; did you mean greeting? Or declare it in variables');
  test.each<[string, NodeOptions]>([
    ['an expression of an input', { ...noop, inputs: { a: expression('size(inputs.greting)') } }],
    ['an index', { ...noop, inputs: { a: expression('inputs["greting"]') } }],
    ['a condition', { type: 'core.loop', config: { whileExpression: 'inputs.greting == ""' } }],
  ])('in %s', (_where, node) => {
    expect(of({ a: node })).toEqual([wrong]);
  });

  test('on an edge', () => {
    const when = { type: 'equals' as const, left: 'inputs.greting', right: 1 };
    expect(of({ a: noop, b: noop }, [{ from: 'a', to: 'b', when }])).toEqual([wrong]);
  });

  test('and another may be given by callers', () => {
    expect(of({ a: { ...noop, inputs: { a: expression('inputs.city') } } })).toEqual([]);
    expect(of({ a: { ...noop, inputs: { a: expression('has(inputs.greting) ? inputs.greeting : ""') } } })).toEqual([]);
  });
});

describe('a node that sets nearly a declared variable is refused', () => {
  const wrong = expect.stringContaining('it sets the variable greting, which is not declared; did you mean greeting?');
  test.each<[string, NodeOptions]>([
    ['setVariable', { type: 'core.setVariable', config: { name: 'greting', value: 'x' } }],
    ['a mapping', { type: 'core.subWorkflow', config: { workflowId: 'kid', outputMapping: { greting: 'x' } } }],
  ])('in %s', (_where, node) => {
    expect(of({ a: node })).toEqual([wrong]);
  });
});

test('a variable that a node sets exists, and has() may ask for any', () => {
  const set: NodeOptions = { type: 'core.setVariable', config: { name: 'made', value: 1 } };
  const kid: NodeOptions = { type: 'core.subWorkflow', config: { workflowId: 'kid', outputMapping: { given: 'x' } } };
  const reads: NodeOptions = {
    ...noop,
    inputs: { a: variable('made'), b: variable('given'), c: expression('has(variables.other) ? 1 : 2') },
  };
  expect(of({ set, kid, reads })).toEqual([]);
  expect(of({ a: { ...noop, inputs: { a: { ...variable('of-some-callers'), optional: true } } } })).toEqual([]);
});

describe('an output that does not exist is refused', () => {
  const set: NodeOptions = { type: 'core.setVariable', config: { name: 'greeting', value: 'x' } };
  const wrong = expect.stringContaining('node set (core.setVariable) has no output valeu; did you mean value?');
  test('in a connection, an expression and on an edge', () => {
    expect(of({ set, b: { ...noop, inputs: { a: outputOf('set', 'valeu') } } })).toEqual([wrong]);
    expect(of({ set, b: { ...noop, inputs: { a: expression('outputs.set.valeu') } } })).toEqual([wrong]);
    expect(of({ set, b: noop }, [{ from: 'set', to: 'b', port: 'valeu' }])).toEqual([wrong]);
  });
  test('and a node that an expression names wrongly', () => {
    expect(of({ set, b: { ...noop, inputs: { a: expression('outputs.sett.value') } } })).toEqual([
      expect.stringContaining('there is no node sett; did you mean set?'),
    ]);
  });
  test('known outputs, ports, all outputs, and the outputs of steps and gates pass', () => {
    const inputs = {
      a: outputOf('set', 'value'),
      b: outputOf('set'),
      c: outputOf('step', 'any'),
      d: outputOf('gate', 'x'),
    };
    const nodes = {
      set,
      step: { type: 'local.step.read' },
      gate: { type: 'core.approvalGate' },
      b: { ...noop, inputs },
    };
    const edges = [
      { from: 'set', to: 'step', port: 'value' },
      { from: 'step', to: 'gate' },
      { from: 'gate', to: 'b', port: 'rejected' },
    ];
    expect(of(nodes, edges)).toEqual([]);
  });
});

test('an unknown node on an edge or in an input is refused with the nearest one', () => {
  expect(of({ first: noop, b: noop }, [{ from: 'fisrt', to: 'b' }])).toEqual([
    expect.stringContaining('it names the unknown node fisrt; did you mean first?'),
  ]);
  const inputs = { a: { type: 'connection' as const, nodeId: 'fist', outputKey: 'output' } };
  expect(of({ first: noop, b: { ...noop, inputs } })).toEqual([
    expect.stringContaining('input a names the unknown node fist; did you mean first?'),
  ]);
});

test('a default that does not have the type of its variable is refused', () => {
  const declared = (type: 'number' | 'array' | 'object', defaultValue: Json) =>
    problems(workflowOf({ a: noop }, undefined, { variables: [{ name: 'n', type, defaultValue }] }));
  expect(declared('number', 'x')).toEqual(['variables[0].defaultValue: the default of n is "x", which is no number']);
  expect(declared('object', [])).toHaveLength(1);
  expect([...declared('number', 1), ...declared('array', []), ...declared('object', null)]).toEqual([]);
});

test('a gate for groups or roles, which this host does not know, needs a list of people', () => {
  const gate = (config: object) => of({ a: { type: 'core.approvalGate', config: { ...config } } });
  const wrong = expect.stringContaining('this host knows no groups and no roles; list the people in approversList');
  expect(gate({ approverRoleRefs: ['finance'] })).toEqual([wrong]);
  expect(gate({ approverGroupRefs: ['finance'] })).toEqual([wrong]);
  expect(gate({ approverRoleRefs: ['finance'], approversList: [] })).toEqual([wrong]);
  expect(gate({ approverRoleRefs: ['finance'], approversList: ['ada'] })).toEqual([]);
});

test('a gate that names fewer people than must accept is refused', () => {
  const gate = (config: object) => of({ a: { type: 'core.approvalGate', config: { ...config } } });
  expect(gate({ approversList: [], requiredApprovals: 2 })).toEqual([]);
  expect(gate({ approversList: ['ada', 'ada'], requiredApprovals: 2 })).toEqual([
    expect.stringContaining('it names 1 of the 2 people who must accept, so the gate could never open'),
  ]);
  expect(gate({ approversList: ['ada', 'ben'], requiredApprovals: 2 })).toEqual([]);
  expect(gate({ requiredApprovals: 9 })).toEqual([]);
});

test('a refused value is named, and the last word is a question or ends with a full stop', () => {
  const refusal = (config: object) => () =>
    checkDefinition(workflowOf({ a: { type: 'core.approvalGate', config: { ...config } } }), scriptNodeTypes);
  expect(refusal({ requiredApprovals: '2' })).toThrow('expected number, received string; it is "2".');
  const typo = () => checkDefinition(workflowOf({ a: { type: 'core.nop' } }), scriptNodeTypes);
  expect(typo).toThrow(/did you mean core\.noop\?$/);
});

test('names of any length cost no time to compare', () => {
  const long = 'v'.repeat(200_000);
  const inputs = { a: variable(`${long}x`) };
  const definition = workflowOf({ a: { ...noop, inputs } }, undefined, { variables: [{ name: long, type: 'string' }] });
  expect(problems(definition)).toEqual([expect.stringContaining('there is no variable')]);
});

test('a trigger that nothing fires is refused, unless it is disabled', () => {
  const plain = workflowOf({ a: noop });
  const triggered = (more: object) => problems({ ...plain, triggers: [{ id: 't', type: 'schedule', ...more }] });
  expect(triggered({})).toEqual([
    expect.stringContaining('triggers[0].type (trigger t): this host does not fire schedule'),
  ]);
  expect(triggered({ enabled: false })).toEqual([]);
  expect(triggered({ type: 'manual' })).toEqual([]);
  expect(triggered({ type: 'manual', nodeId: 'x' })).toEqual([expect.stringContaining('there is no node x')]);
});

test('nodes that no run can reach are refused', () => {
  const edges = [
    { from: 'b', to: 'c' },
    { from: 'c', to: 'b' },
  ];
  expect(of({ a: noop, b: noop, c: noop }, edges)).toEqual([
    expect.stringContaining('(node b): it cannot be reached from a'),
    expect.stringContaining('(node c): it cannot be reached from a'),
  ]);
});

test('a declared variable without a value is null, in inputs, expressions and conditions', () => {
  const definition = defineWorkflow({
    id: 'unset',
    version: '1',
    variables: { given: { type: 'string' }, seen: { type: 'object' } },
    nodes: {
      echo: {
        type: 'core.identity',
        inputs: { port: variable('given'), cel: expression('variables.given == null'), one: fixed(1) },
      },
      seen: {
        type: 'core.setVariable',
        config: { name: 'seen', expression: 'variables.given == null ? "null" : "not"' },
      },
      end: { type: 'core.noop' },
    },
    edges: [
      { from: 'echo', to: 'seen', when: 'variables.given == null' },
      { from: 'seen', to: 'end' },
    ],
  });
  const run = new RunScript(definition);
  expect(run.status).toBe('completed');
  expect(run.state.outputs.echo).toEqual({ port: null, cel: true, one: 1 });
  expect(run.state.view.variables).toEqual({ seen: 'null' });
});

test('a problem with a name that is long does not repeat all of it', () => {
  const long = 'x'.repeat(100_000);
  const [problem] = of({ a: { ...noop, inputs: { a: variable(long) } } });
  expect(problem).toMatch(/^nodes\[0\]\.inputs\.a \(node a\): there is no variable x+…$/);
  expect(problem?.length).toBeLessThan(2_100);
});

test('a type with the name of a member of every object is one that is not known', () => {
  expect(of({ a: { type: 'constructor' } })).toEqual([expect.stringContaining('the type constructor is not known')]);
});

test('a channel is read only by the nodes that it lists, by id or by type', () => {
  const channels = { log: { reducer: 'append' as const, access: { readers: ['a', 'core.merge'] } } };
  const reads = { value: expression('size(channels.log)') };
  const found = (nodes: Record<string, NodeOptions>, edges?: readonly EdgeOptions<string>[]) =>
    problems(workflowOf(nodes, edges, { channels }));
  const reader: NodeOptions = { ...noop, inputs: reads };
  const when = 'size(channels["log"]) > 1';
  expect(found({ a: reader, m: { type: 'core.merge', inputs: reads } }, [{ from: 'a', to: 'm', when }])).toEqual([]);
  const refused = expect.stringContaining('node b may not read the channel log: add it to access.readers');
  expect(found({ b: reader })).toEqual([refused]);
  const setting = { type: 'core.setVariable', config: { name: 'x', expression: 'channels.log' } };
  expect(found({ b: setting })).toEqual([refused]);
  expect(found({ b: noop, a: noop }, [{ from: 'b', to: 'a', when }])).toEqual([refused]);
});
