/** Expressions for the `expressions` figures: every function and operator, with operands that make it work hard. */
import type { Json, JsonObject } from '@cairn/protocol';
import { signatures } from '../packages/host/src/engine/values/cel/functions.ts';
import { binaryOperators } from '../packages/host/src/engine/values/cel/operators.ts';

export interface ExpressionCase {
  /** The function or the operator. */
  readonly of: string;
  readonly source: string;
  readonly inputs: JsonObject;
}

/** Ways to write a value of a kind, for a size. Each is an expression over `inputsOf`. */
const operands: Readonly<Record<string, readonly string[]>> = {
  dyn: ['inputs.text'],
  null: ['null'],
  bool: ['inputs.yes'],
  int: ['1', '9007199254740993'],
  uint: ['1u'],
  double: ['inputs.odd'],
  string: ['inputs.text', 'inputs.same', 'inputs.wide', 'inputs.late', 'inputs.part', '"b"'],
  bytes: ['bytes(inputs.text)', 'bytes(inputs.json)'],
  list: ['inputs.texts', 'inputs.maps', 'inputs.mapsToo', 'inputs.numbers', 'inputs.numbersToo'],
  'list<string>': ['inputs.texts', 'inputs.words'],
  map: ['inputs.map', 'inputs.mapToo'],
  type: ['int'],
  'google.protobuf.Timestamp': ['timestamp("2024-02-29T12:30:45.500Z")'],
  'google.protobuf.Duration': ['duration("1h30m")'],
};

const list = <Item>(length: number, item: (i: number) => Item): Item[] => Array.from({ length }, (_, i) => item(i));

/** Inputs whose texts have `size` characters, and whose lists and maps have a tenth of that many elements. */
function inputsOf(size: number): JsonObject {
  const count = Math.max(1, size / 10);
  const map = (last: Json): JsonObject =>
    Object.fromEntries(list(count, (i) => [`key${i}`, i === count - 1 ? last : i] as const));
  return {
    yes: true,
    half: 0.5,
    odd: 1234567.891,
    text: 'a'.repeat(size),
    same: `${'a'.repeat(size - 1)}b`,
    /** Found only where it would be last, after as many comparisons as possible. */
    late: `${'a'.repeat(Math.ceil(size / 2))}b`,
    part: `b${'a'.repeat(Math.ceil(size / 2))}`,
    wide: 'ä中😀 '.repeat(Math.ceil(size / 5)),
    digits: '1'.repeat(size),
    json: `[${list(Math.ceil(size / 4), () => '{}').join(', ')}]`,
    texts: list(count, (i) => `text ${i}`),
    words: list(count, () => 'a'),
    numbers: list(count, (i) => i),
    numbersToo: list(count, (i) => (i === count - 1 ? -1 : i)),
    maps: list(count, (i) => ({ a: i, b: 'x' })),
    mapsToo: list(count, (i) => ({ a: i, b: i === count - 1 ? 'y' : 'x' })),
    map: map(1),
    mapToo: map(2),
  };
}

/** Every function and operator with every combination of operands. Some do not compile or fail. */
export function expressionCases(): readonly ExpressionCase[] {
  const shapes = [...functionShapes(), ...operatorShapes(), ...otherShapes];
  const [small, ...larger] = [10, 1_000, 50_000].map(inputsOf);
  return [
    ...shapes.map(([of, source]) => ({
      of,
      source: repeated(source),
      inputs: { ...small, turns: list(50, (i) => i) },
    })),
    ...larger.flatMap((inputs) => shapes.map(([of, source]) => ({ of, source, inputs }))),
  ];
}

/** With small operands an evaluation is too short to be measured, so a macro repeats it. */
const repeated = (source: string): string => `inputs.turns.all(i, dyn([${list(8, () => source).join(', ')}]) != null)`;

type Shape = readonly [of: string, source: string];

function functionShapes(): readonly Shape[] {
  return Object.keys(signatures()).flatMap((signature): Shape[] => {
    const [, receiver, name = '', given = ''] = /^(?:(.+)\.)?(\w+)\((.*)\): /.exec(signature) ?? [];
    const kinds = given === '' ? [] : given.split(', ');
    const isZone = receiver?.endsWith('Timestamp') === true;
    const args = combinations(kinds.map((kind) => (isZone ? ['"Europe/Zurich"', '"+05:30"'] : (operands[kind] ?? []))));
    if (receiver === undefined) return args.map((each) => [signature, `${name}(${each.join(', ')})`]);
    return (operands[receiver] ?? []).flatMap((on) =>
      args.map((each): Shape => [signature, `${on}.${name}(${each.join(', ')})`]),
    );
  });
}

function operatorShapes(): readonly Shape[] {
  return binaryOperators.flatMap((op) =>
    Object.entries(operands).flatMap(([left, first]) =>
      Object.entries(operands)
        .filter(([right]) => left === right || areNumbers(left, right) || areTimes(left, right) || op === 'in')
        .flatMap(([right, second]) =>
          combinations([left === right ? first : first.slice(0, 1), second]).map(
            ([a, b]): Shape => [`${left} ${op} ${right}`, `${a} ${op} ${b}`],
          ),
        ),
    ),
  );
}

const areNumbers = (...kinds: readonly string[]) => kinds.every((kind) => ['int', 'uint', 'double'].includes(kind));
const areTimes = (...kinds: readonly string[]) => kinds.every((kind) => kind.startsWith('google.protobuf'));

const otherShapes: readonly Shape[] = [
  ['!', '!inputs.yes'],
  ['-', '-inputs.half'],
  ['?:', 'inputs.yes ? 1 : 2'],
  ['&&', 'inputs.yes && inputs.yes'],
  ['|| over a failure', 'inputs.nope || inputs.yes'],
  ['field', 'inputs.half == inputs.half'],
  ['index of a list', 'inputs.numbers[0]'],
  ['index of a map', 'inputs.map["key0"]'],
  ['index by a long name', 'inputs.map[inputs.text + "b"] == 1 || true'],
  ['list', '[1, inputs.half, "a", [], [inputs.half]].size()'],
  ['map', '{"a": 1, "b": {"c": inputs.half}}.size()'],
  ['map of a long name', '{inputs.text: 1, inputs.wide: 2}.size()'],
  ['has', 'has(inputs.nope)'],
  ['matches', 'inputs.text.matches("^[a-z]+$")'],
  ['matches with many states', 'inputs.text.matches("a[ab]{200}[cd]")'],
  ['matches with many threads', 'inputs.text.matches("(a?){100}a{100}[cd]")'],
  ['matches with a pattern from data', 'inputs.texts.exists(x, "a".matches("^" + x + "[a-f]{0,50}"))'],
  ['matches with a bad pattern', 'inputs.texts.exists(x, "a".matches("(" + x))  || true'],
  ['all', 'inputs.numbers.all(x, x >= 0)'],
  ['all over a map', 'inputs.map.all(x, x != "")'],
  ['exists over failures', 'inputs.numbers.exists(x, x.y) || true'],
  ['exists_one', 'inputs.numbers.exists_one(x, x == -1)'],
  ['map(2)', 'inputs.numbers.map(x, x).size()'],
  ['map(2) of lists', 'inputs.numbers.map(x, [x]).size()'],
  ['map(2) of maps', 'inputs.numbers.map(x, {"a": x, "b": x}).size()'],
  ['map(3)', 'inputs.numbers.map(x, x > 1, x * 2).size()'],
  ['filter', 'inputs.maps.filter(x, x.a > 1 && x.b == "x").size()'],
  ['result: text', 'inputs.wide'],
  ['result: list', 'inputs.numbers'],
  ['result: maps', 'inputs.maps'],
  ['result: map', 'inputs.map'],
];

function combinations(choices: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return choices.reduce<readonly (readonly string[])[]>(
    (all, options) => all.flatMap((before) => options.map((option) => [...before, option])),
    [[]],
  );
}

/** Expressions that spend the whole default cost. */
export const attacks = {
  inputs: {
    a: list(40_000, (i) => i),
    b: list(40_000, (i) => i),
    m: Object.fromEntries(list(20_000, (i) => [`key${i}`, i])),
    s: 'a'.repeat(100_000),
    p: `b${'a'.repeat(50_000)}`,
  },
  sources: [
    'inputs.a.map(x, inputs.b)',
    'inputs.a.map(x, inputs.s)',
    'inputs.a.all(x, size(inputs.s) > 0)',
    'inputs.a.all(x, inputs.m.size() > 0)',
    'inputs.a.all(x, inputs.a == inputs.b)',
    'inputs.a.all(x, x in inputs.b)',
    'inputs.a.exists(x, x.nope == 1)',
    'inputs.a.all(x, !inputs.s.contains("ab"))',
    'inputs.a.all(x, inputs.s.split("a").size() > 0)',
    'inputs.a.map(x, [x, [x], {"a": x}]).map(x, [x, x]).size() > 0 && inputs.a.map(x, {"b": x}).size() > 0',
    'inputs.a.exists(x, inputs.s.matches("a[ab]{" + string(int(x) % 300) + "}[cd]"))',
    'inputs.a.map(x, timestamp("2024-01-01T00:00:00Z").getHours("Europe/Zurich")) == []',
    'inputs.s.contains(inputs.p)',
  ],
} as const;

/** Expressions as workflows have them. */
export const ordinary = {
  inputs: {
    count: 5,
    name: 'Ada',
    status: 'done',
    score: 0.8,
    items: [
      { price: 10, stock: 1 },
      { price: 5, stock: 0 },
      { price: 20, stock: 3 },
    ],
  },
  sources: [
    'inputs.status == "done"',
    'inputs.count > 3 && inputs.score < 10.0',
    'inputs.items.filter(x, x.price > 8 && x.stock > 0).size() > 0',
    '"Hello " + inputs.name + "!"',
    'has(inputs.score) && inputs.score >= 0.5 ? "yes" : "no"',
  ],
} as const;
