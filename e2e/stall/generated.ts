/** Attacks drawn from a seed: the kinds of the fixed ones, with random shapes and sizes. */
import type { Json, JsonObject } from '@cairn/protocol';
import { createRandom, type Random } from '../../packages/host/test/kit/random.ts';
import type { Attack, Graph } from './attack.ts';
import { chain, fan, looped } from './attack.ts';
import { rpcAttack } from './attacks/across.ts';
import { backEdges } from './attacks/definitions.ts';
import { expressionAttack } from './attacks/expressions.ts';
import { readable, unreadAttack } from './attacks/readers.ts';
import { schemaAttack } from './attacks/schemas.ts';
import { blobNode } from './attacks/values.ts';
import { startMany } from './attacks/work.ts';

export function generatedAttacks(seed: string, count: number): readonly Attack[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const kind = random.pick(kinds);
    return kind.draw(`${kind.name}-${index}`, random.fork(kind.name));
  });
}

const kinds: readonly { readonly name: string; draw(name: string, random: Random): Attack }[] = [
  { name: 'gen-cel', draw: (name, random) => expressionAttack(name, drawnExpression(random), drawnInputs(random)) },
  { name: 'gen-cel-nest', draw: (name, random) => expressionAttack(name, nest(random), drawnInputs(random)) },
  {
    name: 'gen-pattern',
    draw: (name, random) =>
      expressionAttack(name, `inputs.s.matches(${JSON.stringify(drawnPattern(random, 3))})`, drawnInputs(random)),
  },
  { name: 'gen-schema', draw: (name, random) => schemaAttack(name, drawnSchema(random, 4), drawnBody(random)) },
  { name: 'gen-rpc', draw: (name, random) => rpcAttack(name, random) },
  { name: 'gen-graph', draw: (name, random) => graphAttack(name, drawnGraph(random)) },
  { name: 'gen-loops', draw: (name, random) => loopAttack(name, random.between(5, 60)) },
  { name: 'gen-fan', draw: (name, random) => fanAttack(name, random.between(20, 200), random.between(1, 4)) },
  {
    name: 'gen-values',
    draw: (name, random) => ({
      name,
      run: (attacker) => attacker.play(name, drawnBlobs(random)),
    }),
  },
  {
    name: 'gen-unread',
    draw: (name, random) => unreadAttack(name, random.pick(readable), random.between(5, 40)),
  },
];

const sizes = [10, 1_000, 20_000, 60_000];

function drawnInputs(random: Random): JsonObject {
  const numbers = () => Array.from({ length: random.pick(sizes) }, (_, index) => index);
  return {
    a: numbers(),
    b: numbers(),
    s: random.pick(['a', 'ab', 'é', '😀', 'x ']).repeat(random.pick(sizes)),
    l: Array.from({ length: random.pick([10, 1_000]) }, () => 'word'.repeat(20)),
    m: Object.fromEntries(Array.from({ length: random.pick([10, 1_000, 10_000]) }, (_, index) => [`k${index}`, index])),
  };
}

const lists = ['inputs.a', 'inputs.b', 'inputs.l'];
const tests = [
  'size(inputs.s) > 0',
  'inputs.a == inputs.b',
  '1.5 in inputs.a',
  'inputs.m == inputs.m',
  '"k1" in inputs.m',
  'inputs.s.contains("zz")',
  'inputs.s.startsWith(inputs.s)',
  'inputs.s + inputs.s == inputs.s',
  'inputs.s < inputs.s',
  'string(inputs.a[0]) == inputs.s',
  'inputs.l + inputs.l == inputs.l',
  'inputs.s.matches("(a|b)*c")',
  'inputs.s.lowerAscii() == inputs.s',
  'inputs.s.split("a").size() > 0',
  'size(inputs.l.join(inputs.s)) > 0',
];

/** Macros over macros, with a costly test inside. */
function drawnExpression(random: Random): string {
  const over = random.pick(lists);
  const macro = random.pick(['all', 'exists', 'exists_one', 'filter', 'map']);
  const depth = random.between(1, 3);
  let body = random.pick(tests);
  for (let level = 0; level < depth; level += 1) {
    body = level === 0 && macro === 'map' ? random.pick([...lists, 'inputs.s', 'inputs.m']) : body;
    const outer = level === 0 ? macro : random.pick(['all', 'exists', 'filter', 'map']);
    body = `${level === 0 ? over : random.pick(lists)}.${outer}(x${level}, ${body})`;
  }
  return body;
}

/** A value that doubles as often as the length of an expression allows. */
function nest(random: Random): string {
  const start = random.pick(['[inputs.s]', '[inputs.a]', '[[1]]']);
  return `${start}${'.map(x, x + x)'.repeat(random.between(5, 60))}`;
}

function drawnPattern(random: Random, depth: number): string {
  if (depth === 0) return random.pick(['a', '[ab]', '.', '\\w', '[^z]', '\\pL', '(?i)k', 'a|b']);
  const inner = drawnPattern(random, depth - 1);
  return random.pick([
    `(${inner})*`,
    `(${inner})+$`,
    `(${inner}){0,${random.pick([5, 100, 1_000])}}`,
    `(${inner}|${drawnPattern(random, depth - 1)})`,
    `${inner}${inner}`.repeat(random.pick([1, 5, 40])),
  ]);
}

function drawnSchema(random: Random, depth: number): JsonObject {
  if (depth === 0) {
    return random.pick<JsonObject>([
      { type: 'string', format: random.pick(['uri', 'email', 'url', 'date-time', 'hostname', 'regex', 'ipv6', 'odd']) },
      { type: 'string', pattern: drawnPattern(random, 2) },
      { uniqueItems: true },
      { const: Array.from({ length: 500 }, (_, index) => index) },
      { enum: Array.from({ length: 500 }, (_, index) => ({ index })) },
    ]);
  }
  const some = () => Array.from({ length: random.pick([1, 3, 12]) }, () => drawnSchema(random, depth - 1));
  return random.pick<() => JsonObject>([
    () => ({ anyOf: some() }),
    () => ({ allOf: some() }),
    () => ({ oneOf: some() }),
    () => ({ items: drawnSchema(random, depth - 1), uniqueItems: true }),
    () => ({ additionalProperties: drawnSchema(random, depth - 1) }),
    () => ({ patternProperties: { [drawnPattern(random, 2)]: drawnSchema(random, depth - 1) } }),
    () => ({ not: { contains: drawnSchema(random, depth - 1) } }),
    () => ({ $defs: { d: { allOf: some() } }, items: { $ref: '#/$defs/d' } }),
  ])();
}

/** The host reads at most 64 MiB of a body that it refuses. A client that sends more learns no code. */
const MAX_BODY_BYTES = 60_000_000;

function drawnBody(random: Random): Json {
  for (;;) {
    const value = drawnValue(random, 4);
    if (JSON.stringify(value).length < MAX_BODY_BYTES) return value;
  }
}

function drawnValue(random: Random, depth: number): Json {
  if (depth === 0) return random.pick<Json>(['a'.repeat(random.pick(sizes)), ':'.repeat(2_000), 1, null, true]);
  const length = random.pick([1, 5, 30]);
  if (random.chance(0.5)) return Array.from({ length }, () => drawnValue(random, depth - 1));
  return Object.fromEntries(Array.from({ length }, (_, index) => [`a${index}`, drawnValue(random, depth - 1)]));
}

const drawnTypes: readonly { readonly typeId: string; readonly config?: JsonObject }[] = [
  { typeId: 'core.noop' },
  { typeId: 'core.identity' },
  { typeId: 'core.parallel' },
  { typeId: 'core.merge' },
  { typeId: 'core.loop', config: { times: 3 } },
  { typeId: 'core.conditional', config: { condition: { type: 'expression', expression: 'size(inputs) == 0' } } },
];

function drawnGraph(random: Random): Graph {
  const count = random.pick([50, 400, 1_500]);
  if (random.chance(0.3)) return backEdges(count, random.between(1, count - 1));
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: `n${index}`,
    ...random.pick(drawnTypes),
  }));
  const edges = Array.from({ length: random.pick([count, 3 * count]) }, () => {
    const [from, to] = [random.below(count), random.below(count)];
    return { from: `n${from}`, to: `n${to}`, port: random.pick(['output', 'body', 'true', 'done']) };
  });
  return { nodes, edges };
}

const graphAttack = (name: string, graph: Graph): Attack => ({
  name,
  run: (attacker) => attacker.play(name, graph),
});

const loopAttack = (name: string, runs: number): Attack => ({
  name,
  async run(attacker) {
    const body = { id: 'set', typeId: 'core.setVariable', config: { name: 'n', value: 'x'.repeat(runs) } };
    if (!(await attacker.register(name, looped(100_000, body)))) return;
    for (const runId of await startMany(attacker, name, runs)) await attacker.ended(runId);
  },
});

const fanAttack = (name: string, width: number, depth: number): Attack => ({
  name,
  async run(attacker) {
    const leaf = chain([
      { id: 'a', typeId: 'core.noop' },
      { id: 'b', typeId: 'core.noop' },
    ]);
    await attacker.register(`${name}-0`, leaf);
    for (let level = 1; level <= depth; level += 1) {
      const child = (i: number) => ({
        id: `c${i}`,
        typeId: 'core.subWorkflow',
        config: { workflowId: `${name}-${level - 1}` },
      });
      await attacker.register(`${name}-${level}`, fan(level === 1 ? width : 3, child));
    }
    await attacker.ended(await attacker.start(`${name}-${depth}`));
  },
});

function drawnBlobs(random: Random): Graph {
  const kilobytes = random.pick([10, 100, 240, 400, 2_000]);
  const count = Math.min(150, Math.ceil(30_000 / kilobytes));
  if (random.chance(0.5)) return fan(count, (index) => blobNode(index, kilobytes));
  return chain(Array.from({ length: count }, (_, index) => blobNode(index, kilobytes)));
}
