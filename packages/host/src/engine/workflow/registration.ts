/** What a definition must satisfy before it can be run: everything that can be known is said at registration, not at run time. */
import { TerminalError, type WorkflowDefinition, type WorkflowNode } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import { schemaProblems } from '../nodes/gate-nodes.ts';
import type { NodeTypeRegistry } from '../nodes/node-types.ts';
import { compileExpression } from '../values/expressions.ts';
import { sharingProblems } from './agent-sharing.ts';
import { compileCondition } from './conditions.ts';
import { analyseGraph } from './loops.ts';
import { MAX_SPAN_MS, settingsProblems } from './node-settings.ts';

/** Kinds of node that need a capability this host may not have, by the wire's closed list. */
const gatedTypes: Readonly<Record<string, string>> = {
  'core.orchestrator.supervisor': 'orchestrator',
  'core.dispatch': 'dispatch',
};

/** Throws `capability_required` for what this host cannot do, `validation_error` with all problems for what is wrong. */
export function checkDefinition(definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry): void {
  refuseGatedTypes(definition, nodeTypes);
  refuseSensitive(definition);
  const names = nameProblems(definition);
  const problems = [
    ...names,
    // The graph can only be walked once its names are right.
    ...(names.length > 0 ? [] : graphProblems(definition)),
    ...definition.nodes.flatMap((node) => nodeProblems(node, definition, nodeTypes)),
    ...definition.edges.flatMap(({ id, condition }) =>
      condition === undefined ? [] : problemOf(() => compileCondition(condition), `edge ${id}: condition`),
    ),
    ...definitionProblems(definition),
  ];
  if (problems.length === 0) return;
  throw new TerminalError('validation_error', {
    message: `The workflow ${definition.id} cannot be registered: ${problems.slice(0, 5).join('; ')}${problems.length > 5 ? `; and ${problems.length - 5} more` : ''}.`,
    hint: 'details.problems lists everything that was found.',
    details: { workflowId: definition.id, problems },
  });
}

/** The text whose hash names the definition: equal definitions have equal texts, whatever the order of their keys. */
export function definitionText(definition: WorkflowDefinition): string {
  return canonicalize(definition) as string;
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

/** Values marked as sensitive must not be written in the clear, and this host cannot seal them. */
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

function nameProblems({ nodes, edges, variables, channels }: WorkflowDefinition): string[] {
  const ids = nodes.map((node) => node.id);
  const known = new Set(ids);
  return [
    ...twice(ids).map((id) => `node ${id} is there twice`),
    ...twice(edges.map((edge) => edge.id)).map((id) => `edge ${id} is there twice`),
    ...twice(variables.map((variable) => variable.name)).map((name) => `variable ${name} is there twice`),
    ...[...ids, ...edges.map(({ id }) => id), ...variables.map(({ name }) => name), ...Object.keys(channels ?? {})]
      .filter((name) => name in {})
      .map((name) => `the name ${name} is reserved`),
    ...edges.flatMap(({ id, sourceNodeId, targetNodeId }) =>
      [sourceNodeId, targetNodeId]
        .filter((end) => !known.has(end))
        .map((end) => `edge ${id} names the unknown node ${end}`),
    ),
  ];
}

const twice = (names: readonly string[]): string[] => {
  const seen = new Set<string>();
  return [...new Set(names.filter((name) => seen.has(name) || !seen.add(name)))];
};

function graphProblems(definition: WorkflowDefinition): string[] {
  const graph = analyseGraph(definition);
  return [
    ...graph.unreachable.map((id) => `node ${id} cannot be reached from ${graph.entries.join(', ')}`),
    ...graph.tangled.map(({ head }) => `the loop of node ${head} can be entered elsewhere than at ${head}`),
  ];
}

function nodeProblems(node: WorkflowNode, definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry): string[] {
  const type = nodeTypes.get(node.typeId);
  const problems = [
    ...(type === undefined ? [`the type ${node.typeId} is not known`] : type.check(node, definition)),
    ...(type?.actsAsAgent?.(node) === true ? sharingProblems(node.config.agentSharing, 'config.agentSharing') : []),
    ...inputProblems(node, definition),
    ...settingsProblems(node.settings ?? {}),
    ...(node.agent?.channel === undefined
      ? []
      : ['agent.channel needs agent deployments, which this host does not offer']),
  ];
  return problems.map((problem) => `node ${node.id}: ${problem}`);
}

function inputProblems({ inputs }: WorkflowNode, { nodes }: WorkflowDefinition): string[] {
  return Object.entries(inputs).flatMap(([name, value]) => {
    if (name in {}) return [`the input name ${name} is reserved`];
    if (value.type === 'expression') return problemOf(() => compileExpression(value.expression), `input ${name}`);
    if (value.type === 'connection' && !nodes.some((node) => node.id === value.nodeId)) {
      return [`input ${name} names the unknown node ${value.nodeId}`];
    }
    return [];
  });
}

function definitionProblems({ settings, configurableSchema, channels, variables }: WorkflowDefinition): string[] {
  const problems: string[] = [];
  if (configurableSchema !== undefined) problems.push(...schemaProblems(configurableSchema, 'configurableSchema'));
  for (const [name, { schema, options }] of Object.entries(channels ?? {})) {
    if (schema !== undefined) problems.push(...schemaProblems(schema, `the schema of channel ${name}`));
    problems.push(...sharingProblems(options?.agentSharing, `options.agentSharing of channel ${name}`));
    if (variables.some((variable) => variable.name === name)) problems.push(`${name} is both a variable and a channel`);
  }
  if ((settings.timeout ?? 0) > MAX_SPAN_MS) problems.push(`settings.timeout must be at most ${MAX_SPAN_MS}`);
  if ((settings.maxRetries ?? 0) > 1_000) problems.push('settings.maxRetries must be at most 1000');
  return problems;
}

function problemOf(compile: () => unknown, what: string): string[] {
  try {
    compile();
    return [];
  } catch (error) {
    return [`${what}: ${(error as Error).message.split('\n', 1)[0]}`];
  }
}
