import { type EdgeCondition, parseWorkflowDefinition, type WorkflowDefinition } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scriptNodeTypes, workflowOf } from '../../../test/kit/run-script.ts';
import { atOnce, LongWork } from '../shares/long-work.ts';
import { refuseLargeText } from './definition-size.ts';
import { parseInSlices, refuseLongLists } from './parse-definition.ts';
import { checkDefinition, textInSlices } from './registration.ts';
import { compileInSlices, compileWorkflow } from './workflow.ts';

const base = workflowOf({ a: 'core.noop' });
const ids = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

function graph(nodes: number, edges: readonly (readonly [string, string])[], typeId = 'core.noop'): WorkflowDefinition {
  return {
    ...base,
    nodes: ids(nodes).map((id) => ({ id, typeId, name: id, position: { x: 0, y: 0 }, config: {}, inputs: {} })),
    edges: edges.map(([sourceNodeId, targetNodeId], index) => ({ id: `e${index}`, sourceNodeId, targetNodeId })),
  };
}

const chain = (count: number) => ids(count - 1).map((id, index) => [id, `n${index + 1}`] as const);

function problemOf(definition: WorkflowDefinition): unknown {
  try {
    checkDefinition(definition, scriptNodeTypes);
    return null;
  } catch (error) {
    return error;
  }
}

const conditions = (count: number, condition: EdgeCondition): WorkflowDefinition => {
  const definition = graph(2, Array<[string, string]>(count).fill(['n0', 'n1']));
  return { ...definition, edges: definition.edges.map((edge) => ({ ...edge, condition })) };
};

test('a definition has a limit in characters', () => {
  refuseLargeText('x'.repeat(524_288));
  expect(() => refuseLargeText('x'.repeat(524_289))).toThrow('has 524289 characters; at most 524288 are allowed');
});

test('a definition has a limit in nodes and in edges', () => {
  expect(problemOf(graph(3_000, []))).toBeNull();
  expect(problemOf(graph(3_001, []))).toMatchObject({
    code: 'definition_too_large',
    message: 'The workflow definition has 3001 nodes; at most 3000 are allowed.',
    details: { count: 3_001, limit: 3_000 },
  });
  expect(problemOf(graph(2, Array<[string, string]>(10_001).fill(['n0', 'n1'])))).toMatchObject({
    code: 'definition_too_large',
    details: { count: 10_001, limit: 10_000 },
  });
});

test('a definition has a limit in what its expressions and patterns cost to compile', () => {
  expect(problemOf(conditions(500, { type: 'regex', left: 'x', right: '^[a-z]+$' }))).toBeNull();
  for (const definition of [
    conditions(500, { type: 'regex', left: 'x', right: '[ab]{0,1000}' }),
    conditions(9_000, { expression: 'output.x == 1' }),
  ]) {
    expect(problemOf(definition)).toMatchObject({ code: 'definition_too_large' });
  }
});

test('patterns in schemas count, also as names', () => {
  const patternProperties = Object.fromEntries(ids(200).map((id) => [`${id}[ab]{0,1000}`, true]));
  const channels = { c: { reducer: 'replace', schema: { patternProperties } } };
  expect(problemOf({ ...graph(1, []), channels })).toMatchObject({ code: 'definition_too_large' });
});

test('loops that overlap without end are refused, a long chain with one loop around it is not', () => {
  const back = chain(2_000).map(([from, to]) => [to, from] as const);
  const overlapping = graph(2_000, [...chain(2_000), ...back]);
  expect(problemOf(overlapping)).toMatchObject({
    code: 'validation_error',
    message: expect.stringContaining('the loops overlap too much'),
  });
  expect(() => compileWorkflow(overlapping, 'h', scriptNodeTypes)).toThrow(/the loops overlap too much/);
  expect(problemOf(graph(2_000, [...chain(2_000), ['n1999', 'n1']]))).toBeNull();
});

test('only the first hundred problems are listed', () => {
  expect(problemOf(graph(500, [], 'nobody.knows'))).toMatchObject({
    message: expect.stringContaining('; and more.'),
    details: { problems: { length: 100 } },
  });
});

test('a large definition is compiled in slices, between which others go on', async () => {
  let now = 0;
  const turns: number[] = [];
  const loop = {
    elapsedMs: () => {
      now += 0.01;
      return now;
    },
    nextTurn: (go: () => void) => {
      turns.push(now);
      setImmediate(go);
    },
  };
  const definition = graph(2_000, chain(2_000));
  const options = { definition, hash: 'h', nodeTypes: scriptNodeTypes, expressionCost: 1 };
  const workflow = await new LongWork(loop).inSlices('t', compileInSlices(options));
  expect(workflow.nodes.size).toBe(2_000);
  expect(turns.length).toBeGreaterThan(5);
  expect(atOnce(compileInSlices(options)).edges.size).toBe(1_999);
});

test('loops know their nodes and exits, inner loops before the loops around them', () => {
  const edges = [...chain(6), ['n3', 'n2'], ['n4', 'n1']] as const;
  const { nodes, loopExits, edges: compiled } = compileWorkflow(graph(6, edges), 'h', scriptNodeTypes);
  expect(ids(6).map((id) => nodes.get(id)?.loops)).toEqual([[], [1], [0, 1], [0, 1], [1], []]);
  expect(loopExits.map((exits) => exits.map(({ id }) => id))).toEqual([['e3'], ['e4']]);
  expect([...compiled.values()].filter(({ back }) => back).map(({ id }) => id)).toEqual(['e5', 'e6']);
});

test('a large definition is parsed in parts, to the same result and with the same paths in errors', () => {
  const definition = graph(150, chain(150));
  expect(atOnce(parseInSlices(JSON.parse(JSON.stringify(definition))))).toEqual(parseWorkflowDefinition(definition));
  const wrongNode = {
    ...definition,
    nodes: definition.nodes.map((node, i) => (i === 120 ? { ...node, id: 7 } : node)),
  };
  expect(() => atOnce(parseInSlices(wrongNode))).toThrow(/^The workflow definition is not valid: nodes\.120\.id: /);
  const wrongEdge = { ...definition, edges: definition.edges.map((edge, i) => (i === 30 ? { ...edge, x: 7 } : edge)) };
  expect(() => atOnce(parseInSlices(wrongEdge))).toThrow(/^The workflow definition is not valid: edges\.30: /);
  expect(() => atOnce(parseInSlices({ ...definition, version: 1 }))).toThrow(/ version: /);
});

test('a definition with too many nodes is refused before it is parsed', () => {
  expect(() => refuseLongLists({ nodes: Array(3_001).fill('no node'), edges: [] })).toThrow(/has 3001 nodes/);
  expect(() => refuseLongLists({ channels: Object.fromEntries(ids(1_001).map((id) => [id, 1])) })).toThrow(
    /has 1001 channels/,
  );
  expect(() => refuseLongLists('no definition')).not.toThrow();
});

test('lists inside groups and channels count together, however they are spread', () => {
  const groups = (count: number, items: number) => ({ groups: Array(count).fill({ nodeIds: Array(items).fill(1) }) });
  expect(() => refuseLongLists(groups(9, 1_000))).not.toThrow();
  expect(() => refuseLongLists(groups(100, 1_000))).toThrow(/has \d+ items in lists of groups and channels/);
  const access = { readers: Array(200).fill(1) };
  const channels = Object.fromEntries(ids(100).map((id) => [id, { reducer: 'append', access }]));
  expect(() => refuseLongLists({ channels })).toThrow(/items in lists of groups and channels/);
});

test('nodes are parsed by few inputs at a time, so that a turn finds few problems', () => {
  const inputs = Object.fromEntries(ids(1_000).map((id) => [id, {}]));
  const nodes = ids(25).map((id) => ({ ...graph(1, []).nodes[0], id, inputs }));
  const slices = parseInSlices({ ...base, nodes });
  expect(slices.next().done).toBe(false);
  // The frame and the first node only: the problems of one node are listed.
  expect(() => atOnce(slices)).toThrow(expect.objectContaining({ message: expect.stringContaining('; and 996 more') }));
});

test('the text in slices is canonical JSON', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })), (value) => {
      expect(atOnce(textInSlices(value))).toBe(canonicalize(value));
    }),
  );
});

test('the config of a node has a limit in values', () => {
  const schema = { properties: Object.fromEntries(ids(1_200).map((id) => [id, { type: 'string', maxLength: 3 }])) };
  const questions = [0, 1, 2].map((index) => ({ id: `q${index}`, question: 'Well?', schema }));
  const [node] = graph(1, [], 'core.clarificationGate').nodes;
  const definition = { ...graph(1, []), nodes: [{ ...node, config: { questions } }] };
  expect(() => checkDefinition(parseWorkflowDefinition(definition), scriptNodeTypes)).toThrow(
    /The config of node n0 has \d+ values; at most 5000 are allowed/,
  );
});
