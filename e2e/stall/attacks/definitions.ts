/** Definitions that are dear to check, and many of them. */
import type { Attack, Graph } from '../attack.ts';
import { chain, definition } from '../attack.ts';

const noops = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `n${index}`, typeId: 'core.noop', config: {} }));

/** Every node leads to the next and back. */
export const backEdges = (count: number, step = 1): Graph => {
  const { nodes, edges = [] } = chain(noops(count));
  const back = nodes.slice(step).map(({ id }, index) => ({ from: id, to: nodes[index]?.id ?? '' }));
  return { nodes, edges: [...edges, ...back] };
};

export const definitionAttacks: readonly Attack[] = [
  {
    name: 'graph-back-edges',
    run: async (attacker) => void (await attacker.register('graph-back-edges', backEdges(3_000))),
  },
  {
    name: 'graph-long-loops',
    run: async (attacker) => void (await attacker.register('graph-long-loops', backEdges(3_000, 1_500))),
  },
  {
    name: 'graph-dense',
    run: async (attacker) => {
      const nodes = noops(110);
      const edges = nodes.flatMap(({ id: from }, i) => nodes.slice(i + 1).map(({ id: to }) => ({ from, to })));
      await attacker.register('graph-dense', { nodes, edges });
    },
  },
  {
    name: 'definition-versions',
    async run(attacker) {
      const texts = Array.from({ length: 400 }, (_, index) => `${index} ${'x'.repeat(1_200)}`);
      const large = definition('definition-versions', { nodes: noops(100), more: { metadata: { texts } } });
      for (let version = 0; version < 418; version += 1) {
        const { status } = await attacker.send('/v1/workflows', { body: { ...large, version: `1.0.${version}` } });
        if (status >= 400) return;
      }
    },
  },
  {
    name: 'definition-versions-run',
    async run(attacker) {
      for (let version = 0; version < 60; version += 1) {
        const id = `definition-run-${version}`;
        const texts = Array.from({ length: 300 }, () => 'x'.repeat(1_500));
        const graph = { nodes: noops(300), more: { metadata: { texts } } };
        if (await attacker.register(id, graph)) await attacker.ended(await attacker.start(id));
      }
    },
  },
];
