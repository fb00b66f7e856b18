import fc from 'fast-check';
import { expect, test } from 'vitest';
import { graphOf } from './graph.ts';

const at = { x: 0, y: 0 };
const node = (id: string) => ({ id, name: id, typeId: 'core.noop', position: at, config: {}, inputs: {} });
const edge = (from: string, to: string) => ({ id: `${from}-${to}`, sourceNodeId: from, targetNodeId: to });

test('a node stands right of all those before it, and branches stand under each other', () => {
  const { nodes } = graphOf({
    nodes: ['a', 'b', 'c', 'd'].map(node),
    edges: [edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd')],
  });
  const [a, b, c, d] = nodes;
  expect([a?.x, b?.x, d?.x].every((x, i, all) => i === 0 || (x ?? 0) > (all[i - 1] ?? 0))).toBe(true);
  expect(b?.x).toBe(c?.x);
  expect(b?.y).not.toBe(c?.y);
});

test('loops and edges to unknown nodes are drawn without an end to the layout', () => {
  const { nodes, edges } = graphOf({
    nodes: ['a', 'b'].map(node),
    edges: [edge('a', 'b'), edge('b', 'a'), edge('b', 'b'), edge('b', 'nowhere')],
  });
  expect(nodes).toHaveLength(2);
  expect(edges.map(({ id }) => id)).toEqual(['a-b', 'b-a', 'b-b']);
});

test('no two nodes stand in one place, whatever the graph', () => {
  const pair = fc.tuple(fc.nat(11), fc.nat(11));
  fc.assert(
    fc.property(fc.uniqueArray(pair, { selector: String, maxLength: 30 }), (pairs) => {
      const ids = Array.from({ length: 12 }, (_, i) => `n${i}`);
      const { nodes } = graphOf({ nodes: ids.map(node), edges: pairs.map(([a, b]) => edge(`n${a}`, `n${b}`)) });
      expect(new Set(nodes.map(({ x, y }) => `${x}/${y}`)).size).toBe(12);
    }),
  );
});
