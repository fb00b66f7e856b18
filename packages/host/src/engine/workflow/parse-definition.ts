/** Parses definitions in slices: zod takes 5 µs for a node, and a definition may have thousands of them. */
import {
  type AuthoredWorkflow,
  parseAuthoredWorkflow,
  parseShape,
  parseWorkflowDefinition,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
  workflowEdge,
  workflowNode,
} from '@cairn/protocol';
import { z } from 'zod';
import type { Sliced } from '../shares/long-work.ts';
import { listLimits, refuse, refuseManyItems } from './definition-size.ts';

/** Definitions with fewer nodes, inputs and edges are parsed at once. Their errors list the problems of all parts. */
const SMALL = 300;

/** Nodes and their inputs, or edges, that are parsed together. */
const CHUNK = 50;

const lists = z.looseObject({ nodes: z.array(z.unknown()), edges: z.array(z.unknown()) });

/** A few items with their indexes as names, so that errors have the path that they have in the definition. */
const nodesByIndex = z.object({ nodes: z.record(z.string(), workflowNode) });
const edgesByIndex = z.object({ edges: z.record(z.string(), workflowEdge) });

/** A definition from the store. Throws `validation_error`. */
export const parseInSlices = (value: unknown): Sliced<WorkflowDefinition> => sliced(value, parseWorkflowDefinition);

/** A definition that is being registered: its version may be missing. Throws `validation_error`. */
export const parseAuthoredInSlices = (value: unknown): Sliced<AuthoredWorkflow> => sliced(value, parseAuthoredWorkflow);

function* sliced<Definition extends AuthoredWorkflow>(
  value: unknown,
  parse: (value: unknown) => Definition,
): Sliced<Definition> {
  const { data } = lists.safeParse(value);
  if (data === undefined) return parse(value);
  if (weightOf(data.nodes) + weightOf(data.edges) <= SMALL) return parse(value);
  yield undefined;
  const frame = parse({ ...data, nodes: data.nodes.slice(0, 1), edges: [] });
  const nodes: WorkflowNode[] = [];
  const edges: WorkflowEdge[] = [];
  for (const chunk of chunksOf(data.nodes)) {
    yield undefined;
    nodes.push(...Object.values(parseShape(nodesByIndex, { nodes: chunk }, WHAT).nodes));
  }
  for (const chunk of chunksOf(data.edges)) {
    yield undefined;
    edges.push(...Object.values(parseShape(edgesByIndex, { edges: chunk }, WHAT).edges));
  }
  return { ...frame, nodes, edges };
}

/** Throws `definition_too_large` before anything is parsed. What has another shape is refused later. */
export function refuseLongLists(value: unknown): void {
  const { data = {} } = z.looseObject({}).safeParse(value);
  for (const [name, limit] of Object.entries(listLimits)) refuse(sizeOf(data[name]), limit, name);
  refuseManyItems([data.groups, data.channels]);
}

const sizeOf = (list: unknown): number => (typeof list === 'object' && list !== null ? Object.keys(list).length : 0);

const WHAT = 'The workflow definition';

/** How many problems an item may have: a node has one for each of its inputs. */
const weightOf = (items: readonly unknown[]): number =>
  items.reduce<number>((sum, item) => sum + 1 + inputsOf(item), 0);

const inputsOf = (item: unknown): number =>
  typeof item === 'object' && item !== null && 'inputs' in item ? sizeOf(item.inputs) : 0;

function* chunksOf(items: readonly unknown[]): Generator<Record<string, unknown>, void> {
  let chunk: [number, unknown][] = [];
  let weight = 0;
  for (const [index, item] of items.entries()) {
    chunk.push([index, item]);
    weight += weightOf([item]);
    if (weight < CHUNK) continue;
    yield Object.fromEntries(chunk);
    [chunk, weight] = [[], 0];
  }
  if (chunk.length > 0) yield Object.fromEntries(chunk);
}
