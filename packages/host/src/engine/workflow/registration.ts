/** Validates a definition. Registration reports every problem that can be found before a run. */
import { TerminalError, type WorkflowDefinition, type WorkflowNode } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import { firstLineOf } from '../values/error-text.ts';
import { compileExpression } from '../values/expressions.ts';
import { compileSchema } from '../values/schemas.ts';
import { agentSharing } from './agent-sharing.ts';
import { compileCondition } from './conditions.ts';
import { analyseGraph } from './loops.ts';
import { parseConfig, problemText, shapeProblems } from './node-config.ts';
import { MAX_SPAN_MS, nodeSettings } from './node-settings.ts';
import type { NodeTypeRegistry, Problem } from './node-type.ts';
import { isReservedName } from './reserved-names.ts';

/** Node types that need a capability this host may lack, with the capability's name on the wire. */
const gatedTypes: Readonly<Record<string, string>> = {
  'core.orchestrator.supervisor': 'orchestrator',
  'core.dispatch': 'dispatch',
};

/** Throws `capability_required` for unsupported features, or `validation_error` with all problems found. */
export function checkDefinition(definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry): void {
  refuseGatedTypes(definition, nodeTypes);
  refuseSensitive(definition);
  const names = nameProblems(definition);
  const problems = [
    ...names,
    // The graph can only be walked once its names are right.
    ...(names.length > 0 ? [] : graphProblems(definition)),
    ...definition.nodes.flatMap((node, index) =>
      nodeProblems(node, definition, nodeTypes).map(within(['nodes', index], `node ${node.id}`)),
    ),
    ...definition.edges.flatMap(({ id, condition }, index) =>
      condition === undefined
        ? []
        : compileProblem(() => compileCondition(condition), ['edges', index, 'condition'], `edge ${id}`),
    ),
    ...definitionProblems(definition),
  ].map(problemText);
  if (problems.length === 0) return;
  throw new TerminalError('validation_error', {
    message: `The workflow ${definition.id} cannot be registered: ${problems.slice(0, 5).join('; ')}${problems.length > 5 ? `; and ${problems.length - 5} more` : ''}.`,
    hint: 'details.problems lists everything that was found.',
    details: { workflowId: definition.id, problems },
  });
}

/** The canonical text of a definition; its hash identifies the definition. The order of keys does not matter. */
export function definitionText(definition: WorkflowDefinition): string {
  return String(canonicalize(definition));
}

function refuseGatedTypes({ nodes }: WorkflowDefinition, nodeTypes: NodeTypeRegistry): void {
  for (const { id, typeId } of nodes) {
    const requiredCapability = gatedTypes[typeId];
    if (requiredCapability === undefined || nodeTypes.has(typeId)) continue;
    throw new TerminalError('capability_required', {
      message: `Node ${id} is of type ${typeId}, which needs the capability ${requiredCapability}; this host does not offer it.`,
      hint: 'GET /.well-known/openwop shows what this host offers.',
      details: { requiredCapability, offendingTypeId: typeId, nodeId: id },
    });
  }
}

/** Sensitive values must not be stored in plaintext, and this host cannot encrypt them. */
function refuseSensitive(definition: WorkflowDefinition): void {
  const marked = [
    ...definition.variables.filter((variable) => variable.sensitive === true).map(({ name }) => `variable ${name}`),
    ...Object.entries(definition.channels ?? {}).flatMap(([name, { sensitive }]) =>
      sensitive ? [`channel ${name}`] : [],
    ),
    ...definition.nodes
      .filter(({ outputSensitivity }) => Object.values(outputSensitivity ?? {}).includes(true))
      .map(({ id }) => `node ${id}`),
  ];
  if (marked.length === 0) return;
  throw new TerminalError('capability_required', {
    message: `The workflow ${definition.id} marks values as sensitive (${marked.join(', ')}); this host does not seal values.`,
    hint: 'Keep such values outside the run and pass references to them.',
    details: { requiredCapability: 'secrets', problems: marked },
  });
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
    ...edges.flatMap(({ id, ...edge }, index) =>
      (['sourceNodeId', 'targetNodeId'] as const)
        .filter((end) => !known.has(edge[end]))
        .map((end) => ({
          path: ['edges', index, end],
          of: `edge ${id}`,
          message: `it names the unknown node ${edge[end]}`,
        })),
    ),
  ];
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
  const graph = analyseGraph(definition);
  const place = (id: string) => ({
    path: ['nodes', definition.nodes.findIndex((node) => node.id === id)],
    of: `node ${id}`,
  });
  return [
    ...graph.unreachable.map((id) => ({
      ...place(id),
      message: `it cannot be reached from ${graph.entries.join(', ')}`,
    })),
    ...graph.tangled.map(({ head }) => ({
      ...place(head),
      message: `its loop can be entered elsewhere than at ${head}`,
    })),
  ];
}

const within =
  (base: readonly PropertyKey[], of: string) =>
  ({ path, message }: Problem): Problem => ({ path: [...base, ...path], of, message });

/** The paths of the problems start at the node. */
function nodeProblems(node: WorkflowNode, definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry): Problem[] {
  const channel = 'needs agent deployments, which this host does not offer';
  return [
    ...configProblems(node, definition, nodeTypes),
    ...inputProblems(node, definition),
    ...shapeProblems(nodeSettings, node.settings ?? {}, ['settings']),
    ...(node.agent?.channel === undefined ? [] : [{ path: ['agent', 'channel'], message: channel }]),
  ];
}

function configProblems(
  node: WorkflowNode,
  definition: WorkflowDefinition,
  nodeTypes: NodeTypeRegistry,
): readonly Problem[] {
  const type = nodeTypes.get(node.typeId);
  if (type === undefined) return [{ path: ['typeId'], message: `the type ${node.typeId} is not known` }];
  const parsed = parseConfig(type, node.config);
  if ('problems' in parsed) return parsed.problems;
  return type.check?.({ config: parsed.config, node, definition }) ?? [];
}

function inputProblems({ inputs }: WorkflowNode, { nodes }: WorkflowDefinition): Problem[] {
  return Object.entries(inputs).flatMap(([name, value]): Problem[] => {
    const path = ['inputs', name];
    if (isReservedName(name)) return [{ path, message: `the input name ${name} is reserved` }];
    if (value.type === 'expression') return compileProblem(() => compileExpression(value.expression), path);
    if (value.type === 'connection' && !nodes.some((node) => node.id === value.nodeId)) {
      return [{ path, message: `input ${name} names the unknown node ${value.nodeId}` }];
    }
    return [];
  });
}

function definitionProblems({ settings, configurableSchema, channels, variables }: WorkflowDefinition): Problem[] {
  const problems: Problem[] = [];
  if (configurableSchema !== undefined) {
    problems.push(...compileProblem(() => compileSchema(configurableSchema), ['configurableSchema']));
  }
  for (const [name, { schema, options }] of Object.entries(channels ?? {})) {
    const path = ['channels', name];
    if (schema !== undefined) problems.push(...compileProblem(() => compileSchema(schema), [...path, 'schema']));
    const sharing = agentSharing.optional();
    problems.push(...shapeProblems(sharing, options?.agentSharing, [...path, 'options', 'agentSharing']));
    if (variables.some((variable) => variable.name === name)) {
      problems.push({ path, message: `${name} is both a variable and a channel` });
    }
  }
  if ((settings.timeout ?? 0) > MAX_SPAN_MS) {
    problems.push({ path: ['settings', 'timeout'], message: `it must be at most ${MAX_SPAN_MS}` });
  }
  if ((settings.maxRetries ?? 0) > 1_000) {
    problems.push({ path: ['settings', 'maxRetries'], message: 'it must be at most 1000' });
  }
  return problems;
}

function compileProblem(compile: () => unknown, path: readonly PropertyKey[], of?: string): Problem[] {
  try {
    compile();
    return [];
  } catch (error) {
    return [{ path, message: firstLineOf(error), ...(of === undefined ? {} : { of }) }];
  }
}
