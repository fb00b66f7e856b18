/** The workflows that attacks are made of. */
import type { Json, JsonObject } from '@cairn/protocol';

interface Node {
  readonly id: string;
  readonly typeId: string;
  readonly config?: JsonObject;
  readonly inputs?: JsonObject;
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly port?: string;
  readonly condition?: JsonObject;
}

export interface Graph {
  readonly nodes: readonly Node[];
  readonly edges?: readonly Edge[];
  readonly more?: JsonObject;
}

/** A definition as it travels. It is not checked here, because hostile ones are the point. */
export function definition(id: string, { nodes, edges = [], more = {} }: Graph): JsonObject {
  return {
    id,
    name: id,
    version: '1',
    nodes: nodes.map(({ id, typeId, config = {}, inputs = {} }) => ({
      id,
      typeId,
      name: id,
      position: { x: 0, y: 0 },
      config,
      inputs,
    })),
    edges: edges.map(({ from, to, port, condition }, index) => ({
      id: `e${index}`,
      sourceNodeId: from,
      targetNodeId: to,
      ...(port === undefined ? {} : { sourceOutput: port }),
      ...(condition === undefined ? {} : { condition }),
    })),
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
    ...more,
  };
}

/** Each node leads to the next. */
export const chain = (nodes: readonly Node[]): Graph => ({
  nodes,
  edges: nodes.slice(1).map(({ id }, index) => ({ from: nodes[index]?.id ?? '', to: id })),
});

/** `count` nodes behind one, all at the same time. */
export const fan = (count: number, node: (index: number) => Node): Graph => {
  const nodes = Array.from({ length: count }, (_, index) => node(index));
  return {
    nodes: [{ id: 'all', typeId: 'core.parallel' }, ...nodes],
    edges: nodes.map(({ id }) => ({ from: 'all', to: id })),
  };
};

/** A loop of `times` rounds over one node. */
export const looped = (times: number, body: Node): Graph => ({
  nodes: [{ id: 'again', typeId: 'core.loop', config: { times } }, body],
  edges: [
    { from: 'again', to: body.id, port: 'body' },
    { from: body.id, to: 'again' },
  ],
});

export const fixedInput = (value: Json): JsonObject => ({ type: 'static', value });
