/** Validates a definition. Registration reports every problem that can be found before a run. */
import {
  type PortValue,
  TerminalError,
  type WorkflowDefinition,
  type WorkflowNode,
  workflowSettings,
} from '@cairn/protocol';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import { atOnce, type Sliced } from '../shares/long-work.ts';
import { firstLineOf } from '../values/error-text.ts';
import { compileExpression } from '../values/expressions.ts';
import { compileSchema } from '../values/schemas.ts';
import { agentProblems } from './agent-refs.ts';
import { agentSharing } from './agent-sharing.ts';
import { openButForTypos } from './closed-shapes.ts';
import { compileCondition } from './conditions.ts';
import { refuseCostly } from './definition-cost.ts';
import { refuseLargeGraph } from './definition-size.ts';
import { analyseGraph, type Graph } from './loops.ts';
import { parseConfig, problemText, sentence, shapeProblems } from './node-config.ts';
import { MAX_SPAN_MS, nodeSettings } from './node-settings.ts';
import type { NodeTypeRegistry, Problem } from './node-type.ts';
import { referenceProblems, suggestion } from './references.ts';
import { isReservedName } from './reserved-names.ts';
import { refuseUnsealable, sensitiveProblems } from './sensitive-rules.ts';
import { defaultTypeProblems } from './variable-types.ts';

/** Node types that need a capability this host may lack, with the capability's name on the wire. */
const gatedTypes: ReadonlyMap<string, string> = new Map([
  ['core.orchestrator.supervisor', 'orchestrator'],
  ['core.dispatch', 'dispatch'],
]);

/** The maximum number of problems in one error. */
const MAX_PROBLEMS = 100;

/**
 * Throws `definition_too_large`, `capability_required` for unsupported features, or `validation_error` with the problems
 * found.
 */
export const checkDefinition = (definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry): void =>
  atOnce(checkInSlices(definition, nodeTypes));

/** The same check, for a caller that lets others go on between its parts. */
export function* checkInSlices(definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry): Sliced<void> {
  refuseLargeGraph(definition, nodeTypes);
  yield* refuseCostly(definition);
  refuseGatedTypes(definition, nodeTypes);
  refuseUnsealable(definition, nodeTypes);
  const problems: Problem[] = [];
  for (const problem of allProblems(definition, nodeTypes)) {
    if (problem === undefined) yield undefined;
    else problems.push(problem);
    if (problems.length === MAX_PROBLEMS) break;
  }
  if (problems.length === 0) return;
  const texts = problems.map(problemText);
  const rest = texts.length === MAX_PROBLEMS ? '; and more' : `; and ${texts.length - 5} more`;
  throw new TerminalError('validation_error', {
    message: sentence(
      `The workflow ${definition.id} cannot be registered: ${texts.slice(0, 5).join('; ')}${texts.length > 5 ? rest : ''}`,
    ),
    hint:
      texts.length > 5
        ? `details.problems lists everything that was found, up to ${MAX_PROBLEMS} problems.`
        : 'GET /v1/node-types shows what each type of node takes.',
    details: { workflowId: definition.id, problems: texts },
  });
}

/** Yields undefined between parts, where others may go on. */
function* allProblems(
  definition: WorkflowDefinition,
  nodeTypes: NodeTypeRegistry,
): Generator<Problem | undefined, void> {
  const names = nameProblems(definition);
  yield* names;
  // The graph can only be walked once its names are right.
  if (names.length === 0) {
    yield* graphProblems(definition);
    yield* referenceProblems(definition, nodeTypes);
  }
  yield undefined;
  const nodeIds = new Set(definition.nodes.map(({ id }) => id));
  for (const [index, node] of definition.nodes.entries()) {
    const at = within(['nodes', index], `node ${node.id}`);
    for (const problem of nodeProblems(node, { definition, nodeTypes, nodeIds })) yield problem && at(problem);
    yield undefined;
  }
  for (const [index, { id, condition }] of definition.edges.entries()) {
    if (condition === undefined) continue;
    yield* compileProblem(() => compileCondition(condition), ['edges', index, 'condition'], `edge ${id}`);
    yield undefined;
  }
  yield* sensitiveProblems(definition);
  yield* defaultTypeProblems(definition);
  yield* definitionProblems(definition);
}

/** The canonical text of a definition; its hash identifies the definition. The order of keys does not matter. */
export const definitionText = (definition: WorkflowDefinition): string => atOnce(textInSlices(definition));

/** The same text, made of the texts of its parts. */
export function* textInSlices(value: object): Sliced<string> {
  yield undefined;
  const texts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) texts.push(yield* memberText(item));
    return `[${texts.join(',')}]`;
  }
  for (const [name, member] of Object.entries<unknown>({ ...value }).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (member !== undefined) texts.push(`${JSON.stringify(name)}:${yield* memberText(member)}`);
  }
  return `{${texts.join(',')}}`;
}

function* memberText(member: unknown): Sliced<string> {
  return typeof member === 'object' && member !== null ? yield* textInSlices(member) : String(canonicalize(member));
}

function refuseGatedTypes({ nodes }: WorkflowDefinition, nodeTypes: NodeTypeRegistry): void {
  for (const { id, typeId } of nodes) {
    const requiredCapability = gatedTypes.get(typeId);
    if (requiredCapability === undefined || nodeTypes.has(typeId)) continue;
    throw new TerminalError('capability_required', {
      message: `Node ${id} is of type ${typeId}, which needs the capability ${requiredCapability}; this host does not offer it.`,
      hint: 'GET /.well-known/openwop shows what this host offers.',
      details: { requiredCapability, offendingTypeId: typeId, nodeId: id },
    });
  }
}

function nameProblems({ nodes, edges, variables, channels }: WorkflowDefinition): Problem[] {
  const known = new Set(nodes.map(({ id }) => id));
  const nodeIds = nodes.map(({ id }, index) => ({ name: id, path: ['nodes', index, 'id'] }));
  const edgeIds = edges.map(({ id }, index) => ({ name: id, path: ['edges', index, 'id'] }));
  const variableNames = variables.map(({ name }, index) => ({ name, path: ['variables', index, 'name'] }));
  const channelNames = Object.keys(channels ?? {}).map((name) => ({ name, path: ['channels', name] }));
  return [
    ...twice(nodeIds, 'node'),
    ...twice(edgeIds, 'edge'),
    ...twice(variableNames, 'variable'),
    ...[...nodeIds, ...edgeIds, ...variableNames, ...channelNames]
      .filter(({ name }) => isReservedName(name))
      .map(({ name, path }) => ({ path, message: `the name ${name} is reserved` })),
    ...unknownEnds(edges, known),
  ];
}

/** Only these many get a suggestion, which costs more than to find the problem. */
const MAX_SUGGESTIONS = 5;

function unknownEnds(edges: WorkflowDefinition['edges'], known: ReadonlySet<string>): Problem[] {
  const ends = edges.flatMap(({ id, sourceNodeId, targetNodeId }, index) =>
    Object.entries({ sourceNodeId, targetNodeId })
      .filter(([, name]) => !known.has(name))
      .map(([end, name]) => ({ path: ['edges', index, end], of: `edge ${id}`, name })),
  );
  return ends.map(({ name, ...place }, i) => {
    const near = i < MAX_SUGGESTIONS ? suggestion(name, known) : '';
    return { ...place, message: `it names the unknown node ${name}${near}` };
  });
}

interface Named {
  readonly name: string;
  readonly path: readonly PropertyKey[];
}

/** Reports each duplicate name once, at its second occurrence. */
function twice(names: readonly Named[], what: string): Problem[] {
  const count = new Map<string, number>();
  return names.flatMap(({ name, path }) => {
    const before = count.get(name) ?? 0;
    count.set(name, before + 1);
    return before === 1 ? [{ path, message: `${what} ${name} is there twice` }] : [];
  });
}

function graphProblems(definition: WorkflowDefinition): Problem[] {
  const indexes = new Map(definition.nodes.map(({ id }, index) => [id, index]));
  const place = (id: string) => ({ path: ['nodes', indexes.get(id) ?? -1], of: `node ${id}` });
  let graph: Graph;
  try {
    graph = analyseGraph(definition);
  } catch (error) {
    return [{ path: ['edges'], message: firstLineOf(error) }];
  }
  const entries = `${graph.entries.slice(0, 3).join(', ')}${graph.entries.length > 3 ? ', …' : ''}`;
  return [
    ...graph.unreachable.map((id) => ({ ...place(id), message: `it cannot be reached from ${entries}` })),
    ...graph.tangled.map(({ head }) => ({
      ...place(head),
      message: `its loop can be entered elsewhere than at ${head}`,
    })),
  ];
}

const within =
  (base: readonly PropertyKey[], of: string) =>
  ({ path, message }: Problem): Problem => ({ path: [...base, ...path], of, message });

interface Checked {
  readonly definition: WorkflowDefinition;
  readonly nodeTypes: NodeTypeRegistry;
  readonly nodeIds: ReadonlySet<string>;
}

/** The paths of the problems start at the node. */
function* nodeProblems(node: WorkflowNode, checked: Checked): Generator<Problem | undefined, void> {
  yield* configProblems(node, checked);
  for (const input of Object.entries(node.inputs)) {
    yield* inputProblems(input, checked);
    yield undefined;
  }
  yield* shapeProblems(nodeSettings, node.settings ?? {}, ['settings']);
  yield* agentProblems(node);
}

function configProblems(node: WorkflowNode, { definition, nodeTypes }: Checked): readonly Problem[] {
  const type = nodeTypes.get(node.typeId);
  if (type === undefined) return [{ path: ['typeId'], message: unknownType(node.typeId, nodeTypes) }];
  const parsed = parseConfig(type, node.config);
  if ('problems' in parsed) return parsed.problems;
  return type.check?.({ config: parsed.config, node, definition }) ?? [];
}

function unknownType(typeId: string, nodeTypes: NodeTypeRegistry): string {
  return `the type ${typeId} is not known${suggestion(typeId, nodeTypes.keys())}`;
}

function inputProblems([name, value]: readonly [string, PortValue], { nodeIds }: Checked): Problem[] {
  const path = ['inputs', name];
  if (isReservedName(name)) return [{ path, message: `the input name ${name} is reserved` }];
  if (value.type === 'expression') return compileProblem(() => compileExpression(value.expression), path);
  if (value.type === 'connection' && !nodeIds.has(value.nodeId)) {
    const near = suggestion(value.nodeId, nodeIds);
    return [{ path, message: `input ${name} names the unknown node ${value.nodeId}${near}` }];
  }
  return [];
}

function* definitionProblems(definition: WorkflowDefinition): Generator<Problem | undefined, void> {
  const { settings, configurableSchema, channels, variables } = definition;
  const variableNames = new Set(variables.map(({ name }) => name));
  if (configurableSchema !== undefined) {
    yield* compileProblem(() => compileSchema(configurableSchema), ['configurableSchema']);
  }
  for (const [name, { schema, options }] of Object.entries(channels ?? {})) {
    const path = ['channels', name];
    if (schema !== undefined) yield* compileProblem(() => compileSchema(schema), [...path, 'schema']);
    yield* shapeProblems(optionalSharing, options?.agentSharing, [...path, 'options', 'agentSharing']);
    if (variableNames.has(name)) yield { path, message: `${name} is both a variable and a channel` };
    yield undefined;
  }
  yield* shapeProblems(settingNames, settings, ['settings']);
  if ((settings.timeout ?? 0) > MAX_SPAN_MS) {
    yield { path: ['settings', 'timeout'], message: `it must be at most ${MAX_SPAN_MS}` };
  }
  if ((settings.maxRetries ?? 0) > 1_000) {
    yield { path: ['settings', 'maxRetries'], message: 'it must be at most 1000' };
  }
}

const optionalSharing = agentSharing.optional();

/** The protocol leaves the settings of a workflow open. It defines `logLevel`, which this host does not read. */
const settingNames = openButForTypos({ ...workflowSettings.shape, logLevel: z.string().optional() });

function compileProblem(compile: () => unknown, path: readonly PropertyKey[], of?: string): Problem[] {
  try {
    compile();
    return [];
  } catch (error) {
    return [{ path, message: firstLineOf(error), ...(of === undefined ? {} : { of }) }];
  }
}
