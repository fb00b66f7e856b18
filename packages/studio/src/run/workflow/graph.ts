/**
 * A workflow's definition as boxes and arrows, placed in layers from left to right: a node stands one layer after the last of
 * those before it. Edges that lead back, as in a loop, do not count. Definitions are small, and one pass over them suffices.
 */
import type { WorkflowDefinition } from '@cairn/client';

export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly typeId: string;
  readonly agentId: string | undefined;
  readonly x: number;
  readonly y: number;
}

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly label: string | undefined;
}

export interface WorkflowGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export const NODE_WIDTH = 220;
export const NODE_HEIGHT = 56;
/** Between layers, where the arrows are, and between the nodes of a layer. */
const LAYER_GAP = 72;
const GAP = 28;

export type Direction = 'right' | 'down';

export function graphOf(
  definition: Pick<WorkflowDefinition, 'nodes' | 'edges'>,
  direction: Direction = 'right',
): WorkflowGraph {
  const known = new Set(definition.nodes.map(({ id }) => id));
  const edges = definition.edges
    .filter(({ sourceNodeId, targetNodeId }) => known.has(sourceNodeId) && known.has(targetNodeId))
    .map(({ id, sourceNodeId: source, targetNodeId: target, label, sourceOutput }) => ({
      id,
      source,
      target,
      label: label ?? sourceOutput,
    }));
  const places = placesOf([...known], edges, direction);
  return {
    nodes: definition.nodes.map(({ id, name, typeId, agent }) => ({
      id,
      name,
      typeId,
      agentId: agent?.agentId,
      ...(places.get(id) ?? { x: 0, y: 0 }),
    })),
    edges,
  };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

function placesOf(
  ids: readonly string[],
  edges: readonly GraphEdge[],
  direction: Direction,
): ReadonlyMap<string, Place> {
  const layers = layersOf(ids, forwardEdges(ids, edges));
  const tallest = Math.max(1, ...layers.map((layer) => layer.length));
  const rank = new Map<string, number>();
  const [gapX, gapY] = direction === 'right' ? [LAYER_GAP, GAP] : [GAP, LAYER_GAP];
  const places = new Map<string, Place>();
  for (const [column, layer] of layers.entries()) {
    const ordered = column === 0 ? layer : byNeighbours(layer, edges, rank);
    for (const [row, id] of ordered.entries()) {
      const across = row + (tallest - ordered.length) / 2;
      rank.set(id, across);
      const [x, y] = direction === 'right' ? [column, across] : [across, column];
      places.set(id, { x: x * (NODE_WIDTH + gapX), y: y * (NODE_HEIGHT + gapY) });
    }
  }
  return places;
}

/** The edges that do not lead back to a node on the way to their source. */
function forwardEdges(ids: readonly string[], edges: readonly GraphEdge[]): readonly GraphEdge[] {
  const from = Map.groupBy(edges, ({ source }) => source);
  const state = new Map<string, 'open' | 'done'>();
  const forward: GraphEdge[] = [];
  for (const root of ids) {
    if (state.has(root)) continue;
    state.set(root, 'open');
    const stack = [{ id: root, next: 0 }];
    while (stack.length > 0) {
      const top = stack.at(-1);
      if (top === undefined) break;
      const edge = from.get(top.id)?.[top.next];
      top.next += 1;
      if (edge === undefined) {
        state.set(top.id, 'done');
        stack.pop();
      } else if (state.get(edge.target) !== 'open') {
        forward.push(edge);
        if (!state.has(edge.target)) {
          state.set(edge.target, 'open');
          stack.push({ id: edge.target, next: 0 });
        }
      }
    }
  }
  return forward;
}

/** Each node one layer after the last of those before it. */
function layersOf(ids: readonly string[], forward: readonly GraphEdge[]): string[][] {
  const into = Map.groupBy(forward, ({ target }) => target);
  const out = Map.groupBy(forward, ({ source }) => source);
  const waitsFor = new Map(ids.map((id) => [id, into.get(id)?.length ?? 0]));
  const layers: string[][] = [];
  let layer = ids.filter((id) => waitsFor.get(id) === 0);
  while (layer.length > 0) {
    layers.push(layer);
    const next: string[] = [];
    for (const { target } of layer.flatMap((id) => out.get(id) ?? [])) {
      const left = (waitsFor.get(target) ?? 0) - 1;
      waitsFor.set(target, left);
      if (left === 0) next.push(target);
    }
    layer = next;
  }
  return layers;
}

/** Beside those before them, so that few edges cross. */
function byNeighbours(
  layer: readonly string[],
  edges: readonly GraphEdge[],
  rank: ReadonlyMap<string, number>,
): readonly string[] {
  const middle = new Map(
    layer.map((id) => {
      const ranks = edges.flatMap(({ source, target }) => (target === id ? (rank.get(source) ?? []) : []));
      return [id, ranks.length === 0 ? 0 : ranks.reduce((sum, one) => sum + one, 0) / ranks.length];
    }),
  );
  return layer.toSorted((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0));
}
