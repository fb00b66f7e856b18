/** The maximum size of a definition. Within it, no part of its registration holds the event loop for long. */
import { TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import type { NodeTypeRegistry } from './node-type.ts';

/** A run starts at most 1,000 nodes unless the host allows more, so larger graphs are rare. */
export const listLimits = {
  nodes: 3_000,
  edges: 10_000,
  variables: 1_000,
  channels: 1_000,
  triggers: 1_000,
  groups: 1_000,
  acceptsInheritedArtifacts: 1_000,
};

/** Items of all lists in groups and channels. A problem with each takes a microsecond, and these parts are not parsed in slices. */
const MAX_LISTED = 10_000;

/** The maximum length of its canonical text. Reading and hashing it take a few milliseconds each, and cannot be split. */
const MAX_CHARACTERS = 524_288;

/** Agents and child workflows share the budget of a run, so each one looks at all the others. */
const MAX_DRIVEN_NODES = 500;

/** Throws `definition_too_large`. Counts only, so that it is done before anything else. */
export function refuseLargeGraph(definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry): void {
  const { nodes, edges } = definition;
  const isDriven = ({ typeId }: { typeId: string }) => nodeTypes.get(typeId)?.driver !== undefined;
  refuse(nodes.length, listLimits.nodes, 'nodes');
  refuse(edges.length, listLimits.edges, 'edges');
  refuse(nodes.filter(isDriven).length, MAX_DRIVEN_NODES, 'nodes that run agents or workflows');
}

/** For a value that was not parsed yet. Counts lists at any depth. */
export function refuseManyItems(value: unknown): void {
  let items = 0;
  const count = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) items += part.length;
    for (const member of Object.values(part)) count(member);
  };
  count(value);
  refuse(items, MAX_LISTED, 'items in lists of groups and channels');
}

export const refuseLargeText = (text: string): void => refuse(text.length, MAX_CHARACTERS, 'characters');

export function refuse(count: number, limit: number, what: string): void {
  if (count <= limit) return;
  throw new TerminalError('definition_too_large', {
    message: `The workflow definition has ${count} ${what}; at most ${limit} are allowed.`,
    hint: 'Split it: a node of type core.subWorkflow runs another workflow.',
    details: { count, limit },
  });
}
