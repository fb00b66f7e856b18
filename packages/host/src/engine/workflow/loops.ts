/** Finds the loops of a graph: the edges that close them, their nodes, and loops with more than one entry. */
import type { WorkflowDefinition, WorkflowEdge } from '@cairn/protocol';

export interface Loop {
  /** The target of the back edges, and the only entry to the loop. */
  readonly head: string;
  readonly nodes: ReadonlySet<string>;
}

export interface Graph {
  /** Where a run starts: nodes without edges from other nodes. If there are none, `core.start`, else the first node. */
  readonly entries: readonly string[];
  /** Ids of the edges that close a loop. */
  readonly backEdges: ReadonlySet<string>;
  /** Inner loops before the loops around them. */
  readonly loops: readonly Loop[];
  /** The loops around each node that is in one, as indexes of `loops`, innermost first. */
  readonly loopsOf: ReadonlyMap<string, readonly number[]>;
  readonly unreachable: readonly string[];
  /** Loops with an entry other than their head. Their trigger rules would be undefined. */
  readonly tangled: readonly Loop[];
}

/**
 * The maximum number of edges in all loops together; an edge counts once for each loop around it. Loops that overlap
 * without end make this number grow with the square of the graph: 3,000 nodes took 8 s.
 */
const MAX_LOOP_EDGES = 50_000;

/** Edges must name nodes that exist. Throws a RangeError if the loops overlap too much. */
export function analyseGraph(definition: WorkflowDefinition): Graph {
  const ids = definition.nodes.map((node) => node.id);
  const out = groupBy(definition.edges, (edge) => edge.sourceNodeId);
  const into = groupBy(definition.edges, (edge) => edge.targetNodeId);
  const roots = ids.filter((id) => (into.get(id) ?? []).every((edge) => edge.sourceNodeId === id));
  const start = definition.nodes.find((node) => node.typeId === 'core.start') ?? definition.nodes[0];
  const entries = roots.length > 0 || start === undefined ? roots : [start.id];
  const { backEdges, reached } = depthFirst(entries, out);
  const loops = naturalLoops(definition.edges, backEdges, into);
  const isEntry = new Set(entries);
  return {
    entries,
    backEdges,
    loops,
    loopsOf: loopsByNode(loops),
    unreachable: ids.filter((id) => !reached.has(id)),
    tangled: loops.filter((loop) => [...loop.nodes].some((id) => id !== loop.head && isEntry.has(id))),
  };
}

/** An edge to a node on the current path closes a loop. Iterative, because graphs may be deep. */
function depthFirst(entries: readonly string[], out: ReadonlyMap<string, readonly WorkflowEdge[]>) {
  const backEdges = new Set<string>();
  const reached = new Set<string>();
  const open = new Set<string>();
  for (const entry of entries) {
    if (reached.has(entry)) continue;
    reached.add(entry);
    open.add(entry);
    const path = [{ id: entry, next: 0 }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const edge = out.get(top.id)?.[top.next++];
      if (edge === undefined) {
        open.delete(top.id);
        path.pop();
      } else if (open.has(edge.targetNodeId)) {
        backEdges.add(edge.id);
      } else if (!reached.has(edge.targetNodeId)) {
        reached.add(edge.targetNodeId);
        open.add(edge.targetNodeId);
        path.push({ id: edge.targetNodeId, next: 0 });
      }
    }
  }
  return { backEdges, reached };
}

/** A loop holds all nodes that reach a back edge's source without passing its head. One head has one loop. */
function naturalLoops(
  edges: readonly WorkflowEdge[],
  backEdges: ReadonlySet<string>,
  into: ReadonlyMap<string, readonly WorkflowEdge[]>,
): Loop[] {
  const byHead = new Map<string, Set<string>>();
  let left = MAX_LOOP_EDGES;
  for (const edge of edges) {
    if (!backEdges.has(edge.id)) continue;
    const head = edge.targetNodeId;
    const nodes = byHead.get(head) ?? new Set([head]);
    byHead.set(head, nodes);
    const frontier = [edge.sourceNodeId];
    for (let id = frontier.pop(); id !== undefined; id = frontier.pop()) {
      if (nodes.has(id)) continue;
      nodes.add(id);
      const incoming = into.get(id) ?? [];
      left -= incoming.length;
      if (left < 0) throw tooManyLoops(head);
      for (const { sourceNodeId } of incoming) frontier.push(sourceNodeId);
    }
  }
  return [...byHead].map(([head, nodes]) => ({ head, nodes })).sort((a, b) => a.nodes.size - b.nodes.size);
}

const tooManyLoops = (head: string): RangeError =>
  new RangeError(
    `the loops overlap too much: up to the loop at ${head} they hold more than ${MAX_LOOP_EDGES} edges in all, where an edge counts once for each loop around it`,
  );

function loopsByNode(loops: readonly Loop[]): ReadonlyMap<string, readonly number[]> {
  const around = new Map<string, number[]>();
  for (const [index, { nodes }] of loops.entries()) {
    for (const id of nodes) {
      const known = around.get(id);
      if (known === undefined) around.set(id, [index]);
      else known.push(index);
    }
  }
  return around;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
