/** The node types of a host: core types, additional types that may replace core ones, and one type for each step. */
import { isJsonObject, type Json, type JsonObject, type NodeTypeDescriptor, TerminalError } from '@cairn/protocol';
import type { Step } from '../ports.ts';
import { configSchema } from '../workflow/node-config.ts';
import type { NodeType, NodeTypeRegistry } from '../workflow/node-type.ts';
import { delay, end, failing, identity, merge, noop, parallel, start } from './basic-nodes.ts';
import { conditional, loop } from './branch-nodes.ts';
import { conversationGate } from './conversation-gate.ts';
import { channelWrite, getVariable, setVariable } from './data-nodes.ts';
import { approvalGate, clarificationGate, interrupt } from './gate-nodes.ts';
import { nodeDocs } from './node-docs.ts';
import { stepNode } from './step-node.ts';
import { subWorkflow } from './sub-workflow.ts';

const coreNodes = [
  noop,
  identity,
  delay,
  failing,
  approvalGate,
  clarificationGate,
  interrupt,
  conversationGate,
  start,
  end,
  conditional,
  loop,
  parallel,
  merge,
  setVariable,
  getVariable,
  channelWrite,
  subWorkflow,
] as const satisfies readonly NodeType[];

export type CoreNode = (typeof coreNodes)[number];

export function createNodeTypeRegistry(
  steps: readonly Pick<Step, 'typeId' | 'safety'>[],
  others: readonly NodeType[] = [],
): NodeTypeRegistry {
  const nodeTypes = new Map<string, NodeType>();
  const given = [...others, ...steps.map(stepNode)];
  const replaced = new Set(others.map(({ typeId }) => typeId));
  for (const type of [...coreNodes.filter(({ typeId }) => !replaced.has(typeId)), ...given]) {
    if (nodeTypes.has(type.typeId)) {
      throw new TerminalError('config_invalid', {
        message: `Two kinds of node are called ${type.typeId}.`,
        hint: 'Give each step a name of its own.',
      });
    }
    nodeTypes.set(type.typeId, { ...type, doc: type.doc ?? nodeDocs[type.typeId] });
  }
  return nodeTypes;
}

/** The descriptions of the node types for clients, sorted by id. */
export const describeNodeTypes = (nodeTypes: NodeTypeRegistry): readonly NodeTypeDescriptor[] =>
  [...nodeTypes.values()]
    .filter(({ hostAgent }) => hostAgent === undefined)
    .sort((a, b) => (a.typeId < b.typeId ? -1 : 1))
    .map(describe);

function describe(type: NodeType): NodeTypeDescriptor {
  const { typeId, safety, doc } = type;
  const { settings = {}, ...shown } = doc ?? {};
  return {
    typeId,
    ...shown,
    configSchema: describedSchema(configSchema(type), settings),
    ...(safety === undefined ? {} : { safety }),
  };
}

/** Adds what each setting does to its property, also in the variants of a union. */
function describedSchema(schema: JsonObject, settings: Readonly<Record<string, string>>): JsonObject {
  const described = (property: Json, name: string): Json =>
    isJsonObject(property) && settings[name] !== undefined ? { ...property, description: settings[name] } : property;
  const { properties, oneOf } = schema;
  return {
    ...schema,
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, it]) => [name, described(it, name)])) }
      : {}),
    ...(Array.isArray(oneOf)
      ? { oneOf: oneOf.map((variant) => (isJsonObject(variant) ? describedSchema(variant, settings) : variant)) }
      : {}),
  };
}
