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
import { listLimits, refuse } from './definition-size.ts';

/** Definitions with fewer nodes and edges are parsed at once. Their errors list the problems of all parts. */
const SMALL = 100;

/** Nodes or edges that are parsed together. */
const CHUNK = 25;

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
  if (data.nodes.length + data.edges.length <= SMALL) return parse(value);
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
  for (const [name, limit] of Object.entries(listLimits)) refuse(sizeOf(value, name), limit, name);
}

function sizeOf(value: unknown, name: string): number {
  const list: unknown = z.looseObject({}).safeParse(value).data?.[name];
  return typeof list === 'object' && list !== null ? Object.keys(list).length : 0;
}

const WHAT = 'The workflow definition';

function* chunksOf(items: readonly unknown[]): Generator<Record<string, unknown>, void> {
  for (let from = 0; from < items.length; from += CHUNK) {
    yield Object.fromEntries(items.slice(from, from + CHUNK).map((item, index) => [from + index, item]));
  }
}
