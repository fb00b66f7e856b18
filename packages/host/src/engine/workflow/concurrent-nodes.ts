/** Finds the nodes that may run concurrently with a given one: neither its ancestors nor its descendants. */
import type { CompiledNode } from './node-type.ts';

/** Returns only driven nodes: other nodes use no shared budget. Ignores back edges, so a loop counts as one round. */
export function concurrentNodesOf(nodeId: string, nodes: ReadonlyMap<string, CompiledNode>): readonly CompiledNode[] {
  const related = new Set([nodeId]);
  walk(nodeId, related, (id) => nodes.get(id)?.out.flatMap(({ back, target }) => (back ? [] : [target])) ?? []);
  walk(nodeId, related, (id) => nodes.get(id)?.in.map(({ source }) => source) ?? []);
  return [...nodes.values()].filter(({ id, type }) => type.driver !== undefined && !related.has(id));
}

function walk(from: string, seen: Set<string>, next: (nodeId: string) => readonly string[]): void {
  const path = [from];
  for (let id = path.pop(); id !== undefined; id = path.pop()) {
    for (const other of next(id)) {
      if (seen.has(other)) continue;
      seen.add(other);
      path.push(other);
    }
  }
}
