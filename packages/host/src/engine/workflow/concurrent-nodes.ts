/** Which nodes of a graph may be at work while a given one is: those that neither lead to it nor follow from it. */
import type { CompiledNode } from './node-type.ts';

/** Of those the driven ones: others use up nothing that is shared. A loop is looked at one round at a time. */
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
