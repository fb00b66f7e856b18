/** Operators of expressions, each with its price. An operator that is not here does not exist. */
import { type CostBudget, spend } from '../cost-budget.ts';
import {
  type CelMap,
  Duration,
  Failure,
  fieldName,
  int,
  isList,
  isMap,
  type Kind,
  kindOf,
  timestamp,
  Uint,
  uint,
} from './cel-values.ts';
import { equal } from './equality.ts';
import type { Part } from './evaluation.ts';
import { prices } from './prices.ts';

/** It sees only operands of its kinds. */
interface Overload {
  readonly gives: Kind;
  apply(a: unknown, b: unknown, budget: CostBudget): unknown;
}

type Apply = Overload['apply'];

type Overloads = ReadonlyMap<Kind, ReadonlyMap<Kind, Overload>>;

const numbers: readonly Kind[] = ['int', 'uint', 'double'];
const ordered: readonly Kind[] = ['bool', 'string', 'timestamp', 'duration'];

/** Compiles an operator with two operands. Throws an Error if no kind of its operands can fit. */
export function binary(op: string, left: Part, right: Part): Part {
  const apply = applyOf(op);
  if (apply === undefined) throw new Error(`the operator ${op} is not supported`);
  const kind = resultKind(op, left.kind, right.kind);
  if (kind === undefined) throw new Error(noOverload(op, left.kind, right.kind));
  const [a, b] = [left.step, right.step];
  return {
    kind,
    step(frame) {
      spend(frame.budget, prices.step);
      return apply(a(frame), b(frame), frame.budget);
    },
  };
}

export const binaryOperators = ['==', '!=', 'in', '<', '<=', '>', '>=', '+', '-', '*', '/', '%'] as const;

function applyOf(op: string): Apply | undefined {
  switch (op) {
    case '==':
      return equal;
    case '!=':
      return (a, b, budget) => !equal(a, b, budget);
    case 'in':
      return isIn;
    case '<':
      return (a, b, budget) => compare(op, a, b, budget) < 0;
    case '<=':
      return (a, b, budget) => compare(op, a, b, budget) <= 0;
    case '>':
      return (a, b, budget) => compare(op, a, b, budget) > 0;
    case '>=':
      return (a, b, budget) => compare(op, a, b, budget) >= 0;
    default: {
      const overloads = arithmetic().get(op);
      return overloads === undefined ? undefined : compute(op, overloads);
    }
  }
}

const noOverload = (op: string, left: string, right: string): string => `no such overload: ${left} ${op} ${right}`;

function resultKind(op: string, left: Part['kind'], right: Part['kind']): Part['kind'] | undefined {
  const isKnown = left !== 'dyn' && right !== 'dyn';
  switch (op) {
    case '==':
    case '!=':
      return isKnown && left !== right && !(numbers.includes(left) && numbers.includes(right)) ? undefined : 'bool';
    case 'in':
      return right === 'dyn' || right === 'list' || right === 'map' ? 'bool' : undefined;
    case '<':
    case '<=':
    case '>':
    case '>=':
      return isKnown && !isOrdered(left, right) ? undefined : 'bool';
    default: {
      const overloads = arithmetic().get(op);
      // Without an overload the operator fails when it is evaluated, as it always has.
      return isKnown ? (overloads?.get(left)?.get(right)?.gives ?? 'dyn') : 'dyn';
    }
  }
}

const isOrdered = (left: Kind, right: Kind): boolean =>
  left === right ? ordered.includes(left) || numbers.includes(left) : numbers.includes(left) && numbers.includes(right);

function isIn(value: unknown, within: unknown, budget: CostBudget): boolean {
  if (isList(within)) {
    for (const item of within) {
      spend(budget, prices.element);
      if (equal(value, item, budget)) return true;
    }
    return false;
  }
  if (!isMap(within)) throw new Failure(noOverload('in', kindOf(value), kindOf(within)));
  const name = fieldName(value);
  return name !== undefined && hasField(within, name, budget);
}

/** Charges for the hash of the name. */
export function hasField(map: CelMap, name: string, budget: CostBudget): boolean {
  spend(budget, prices.step + name.length * prices.copiedCharacter);
  return Object.hasOwn(map, name);
}

function compare(op: string, a: unknown, b: unknown, budget: CostBudget): number {
  if (typeof a === 'number' && typeof b === 'number') return order(a, b);
  if (typeof a === 'string' && typeof b === 'string') {
    spend(budget, Math.min(a.length, b.length) * prices.character);
    return order(a, b);
  }
  const left = kindOf(a);
  const right = kindOf(b);
  spend(budget, prices.integer);
  if (!isOrdered(left, right)) throw new Failure(noOverload(op, left, right));
  return order(amount(a), amount(b));
}

/** NaN is neither less nor greater. */
// biome-ignore lint/suspicious/noDoubleEquals: a bigint equals a number of the same amount.
const order = <Value>(a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : a == b ? 0 : Number.NaN);

function amount(value: unknown): unknown {
  if (value instanceof Uint) return value.value;
  if (value instanceof Duration) return value.nanos;
  return value instanceof Date ? value.getTime() : value;
}

const compute =
  (op: string, overloads: Overloads): Apply =>
  (a, b, budget) => {
    const left = kindOf(a);
    const right = kindOf(b);
    const overload = overloads.get(left)?.get(right);
    if (overload === undefined) throw new Failure(noOverload(op, left, right));
    return overload.apply(a, b, budget);
  };

/** Built on first use. */
let built: ReadonlyMap<string, Overloads> | undefined;
function arithmetic(): ReadonlyMap<string, Overloads> {
  built ??= build();
  return built;
}

function build(): ReadonlyMap<string, Overloads> {
  const all = new Map<string, Map<Kind, Map<Kind, Overload>>>();
  const add = (op: string, left: Kind, right: Kind, gives: Kind, apply: Apply) => {
    const byLeft = all.get(op) ?? new Map<Kind, Map<Kind, Overload>>();
    const byRight = byLeft.get(left) ?? new Map<Kind, Overload>();
    byRight.set(right, { gives, apply });
    all.set(op, byLeft.set(left, byRight));
  };
  for (const [op, onInts, onDoubles] of numberOperators) {
    add(op, 'int', 'int', 'int', (a: bigint, b: bigint, budget) => {
      spend(budget, prices.integer);
      return int(onInts(a, b));
    });
    add(op, 'uint', 'uint', 'uint', (a: Uint, b: Uint, budget) => {
      spend(budget, prices.integer + prices.object);
      return uint(onInts(a.value, b.value));
    });
    // JSON numbers arrive as doubles, and mix with integer literals.
    for (const [left, right] of [
      ['double', 'double'],
      ['double', 'int'],
      ['int', 'double'],
    ] as const) {
      add(op, left, right, 'double', (a: number, b: number) => onDoubles(Number(a), Number(b)));
    }
  }
  addJoins(add);
  addTimes(add);
  return all;
}

type Add = (op: string, left: Kind, right: Kind, gives: Kind, apply: Apply) => void;

const byZero = (b: bigint): bigint => {
  if (b === 0n) throw new Failure('division by zero');
  return b;
};

const numberOperators: readonly (readonly [
  string,
  (a: bigint, b: bigint) => bigint,
  (a: number, b: number) => number,
])[] = [
  ['+', (a, b) => a + b, (a, b) => a + b],
  ['-', (a, b) => a - b, (a, b) => a - b],
  ['*', (a, b) => a * b, (a, b) => a * b],
  ['/', (a, b) => a / byZero(b), (a, b) => a / b],
  ['%', (a, b) => a % byZero(b), (a, b) => a % b],
];

function addJoins(add: Add): void {
  add('+', 'string', 'string', 'string', (a: string, b: string, budget) => {
    spend(budget, prices.object + (a.length + b.length) * prices.copiedCharacter);
    return a + b;
  });
  add('+', 'list', 'list', 'list', (a: readonly unknown[], b: readonly unknown[], budget) => {
    spend(budget, prices.object + (a.length + b.length) * prices.element);
    return a.concat(b);
  });
  add('+', 'bytes', 'bytes', 'bytes', (a: Uint8Array, b: Uint8Array, budget) => {
    spend(budget, prices.time + (a.length + b.length) * prices.copiedCharacter);
    const joined = new Uint8Array(a.length + b.length);
    joined.set(a);
    joined.set(b, a.length);
    return joined;
  });
}

function addTimes(add: Add): void {
  const timed = (make: () => unknown, budget: CostBudget) => {
    spend(budget, prices.object + prices.integer);
    return make();
  };
  const later = (time: Date, { nanos }: Duration, sign: 1 | -1) =>
    timestamp(time.getTime() + sign * Number(nanos / 1_000_000n));
  add('+', 'duration', 'duration', 'duration', (a: Duration, b: Duration, budget) =>
    timed(() => new Duration(int(a.nanos + b.nanos)), budget),
  );
  add('-', 'duration', 'duration', 'duration', (a: Duration, b: Duration, budget) =>
    timed(() => new Duration(int(a.nanos - b.nanos)), budget),
  );
  add('+', 'timestamp', 'duration', 'timestamp', (a: Date, b: Duration, budget) => timed(() => later(a, b, 1), budget));
  add('+', 'duration', 'timestamp', 'timestamp', (a: Duration, b: Date, budget) => timed(() => later(b, a, 1), budget));
  add('-', 'timestamp', 'duration', 'timestamp', (a: Date, b: Duration, budget) =>
    timed(() => later(a, b, -1), budget),
  );
  add('-', 'timestamp', 'timestamp', 'duration', (a: Date, b: Date, budget) =>
    timed(() => new Duration(BigInt(a.getTime() - b.getTime()) * 1_000_000n), budget),
  );
}
