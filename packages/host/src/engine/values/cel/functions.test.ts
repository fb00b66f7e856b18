import { describe, expect, test } from 'vitest';
import { libraryEnvironment } from '../../../../test/kit/cel-library.ts';
import { CostExceeded, costBudget } from '../cost-budget.ts';
import { compileExpression, type Scope } from '../expressions.ts';
import { functionOverloads, signatures } from './functions.ts';
import { macros } from './macros.ts';

/** Functions of the library that expressions do not have. */
const notOffered = new Set([
  'optional<dyn>.hasValue(): bool',
  'optional<A>.value(): A',
  'OptionalNamespace.none(): optional<T>',
  'OptionalNamespace.of(A): optional<A>',
  'optional<dyn>.or(ast): optional<dyn>',
  'optional<dyn>.orValue(ast): dyn',
  'CelNamespace.bind(ast, dyn, ast): dyn',
]);

/** Functions that the compiler knows itself. */
const compiled = new Set(['has/1', '.matches/1', ...[...macros].map((macro) => `.${macro}`)]);

const scopeOf = (inputs: Scope['inputs']): Scope => ({ inputs, variables: {}, outputs: {}, output: {}, channels: {} });

function costOf(source: string, inputs: Scope['inputs']): number {
  const budget = costBudget(Number.MAX_SAFE_INTEGER);
  try {
    compileExpression(source).evaluate(scopeOf(inputs), budget);
  } catch {
    // A failure costs, too.
  }
  return budget.limit - budget.left;
}

describe('the table of functions', () => {
  test('has every function of the library, or leaves it out on purpose', () => {
    const missing = libraryEnvironment()
      .getDefinitions()
      .functions.filter(({ signature, name, receiverType, params }) => {
        const isMethod = receiverType !== null;
        const isCompiled = compiled.has(`${isMethod ? '.' : ''}${name}/${params.length}`);
        return (
          !isCompiled && !notOffered.has(signature) && functionOverloads(name, isMethod, params.length) === undefined
        );
      });
    expect(missing).toEqual([]);
  });

  test('has every overload of the library', () => {
    const known = new Set(Object.keys(signatures()));
    const missing = libraryEnvironment()
      .getDefinitions()
      .functions.filter(({ name, receiverType, params, signature }) => {
        const isCompiled = compiled.has(`${receiverType === null ? '' : '.'}${name}/${params.length}`);
        return !isCompiled && name !== 'type' && name !== 'json' && !notOffered.has(signature);
      })
      .map(({ signature }) => signature.replaceAll('<dyn>', '').replaceAll('<dyn, dyn>', ''))
      .filter((signature) => !known.has(signature));
    expect(missing).toEqual([]);
  });

  test('refuses what is not in it', () => {
    for (const source of ['nope(1)', 'inputs.x.nope()', 'optional.none()', 'cel.bind(x, 1, x)', 'size(1, 2)']) {
      expect(() => compileExpression(source), source).toThrow();
    }
  });
});

/** An expression whose work grows with `inputs.s` (a text), `inputs.l` (a list) or `inputs.m` (a map). */
const growing: readonly string[] = [
  'size(inputs.s)',
  'inputs.s.size()',
  'inputs.s == inputs.s2',
  'inputs.s != inputs.s2',
  'inputs.s < inputs.s2',
  'inputs.s <= inputs.s2',
  'inputs.s > inputs.s2',
  'inputs.s >= inputs.s2',
  'inputs.s + inputs.s2',
  'inputs.s.contains("zz")',
  'inputs.s.startsWith(inputs.s2)',
  'inputs.s.endsWith(inputs.s2)',
  'inputs.s.indexOf("zz")',
  'inputs.s.indexOf("zz", 1)',
  'inputs.s.lastIndexOf("zz")',
  'inputs.s.lastIndexOf("zz", 1)',
  'inputs.s.lowerAscii()',
  'inputs.s.upperAscii()',
  'inputs.s.trim()',
  'inputs.s.substring(1)',
  'inputs.s.substring(1, 2)',
  'inputs.s.split("zz")',
  'inputs.s.split("zz", 2)',
  'inputs.s.matches("z+")',
  'inputs.s in {"a": 1}',
  'inputs.s in inputs.l2',
  '{"a": 1}[inputs.s]',
  '{inputs.s: 1}',
  'bytes(inputs.s)',
  'bytes(inputs.s).hex()',
  'bytes(inputs.s).base64()',
  'bytes(inputs.s).string()',
  'bytes(inputs.s).json()',
  'bytes(inputs.s) + bytes(inputs.s)',
  'bytes(inputs.s) == bytes(inputs.s2)',
  'string(bytes(inputs.s))',
  'double(inputs.s)',
  'inputs.s',
  'inputs.l',
  'inputs.m',
  'inputs.l == inputs.l2',
  'inputs.l != inputs.l2',
  'inputs.l + inputs.l2',
  '"zz" in inputs.l',
  'inputs.l.join()',
  'inputs.l.join(", ")',
  'inputs.l.all(x, true)',
  'inputs.l.exists(x, false)',
  'inputs.l.exists(x, x.y)',
  'inputs.l.exists_one(x, false)',
  'inputs.l.map(x, 1)',
  'inputs.l.map(x, true, 1)',
  'inputs.l.filter(x, false)',
  'inputs.m == inputs.m2',
  'inputs.m != inputs.m2',
  'inputs.m.all(x, true)',
  'size(inputs.m)',
  'inputs.m.size()',
];

describe('every operator and function', () => {
  const inputsOf = (size: number): Scope['inputs'] => ({
    s: 'a'.repeat(size),
    s2: `${'a'.repeat(size - 1)}b`,
    l: Array.from({ length: size }, () => 'a'),
    l2: Array.from({ length: size }, (_, i) => (i < size - 1 ? 'a' : 'b')),
    m: Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, 1])),
    m2: Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, i < size - 1 ? 1 : 2])),
  });
  const [small, large] = [inputsOf(1_000), inputsOf(8_000)];

  test.each(growing)('%s costs in proportion to the size of its operands', (source) => {
    const fixed = costOf(source, inputsOf(2));
    expect(costOf(source, large) - fixed).toBeGreaterThan(7 * (costOf(source, small) - fixed));
    expect(costOf(source, large)).toBeGreaterThan(400);
  });

  test.each(growing)('%s computes nothing more once its budget is spent', (source) => {
    const budget = costBudget(100);
    expect(() => compileExpression(source).evaluate(scopeOf(large), budget)).toThrow(
      expect.objectContaining({ code: 'expression_failed', message: expect.stringContaining('100 units') }),
    );
    expect(budget.left).toBeLessThan(0);
  });
});

describe('a budget that is spent', () => {
  test.each([
    'inputs.l.exists(x, size(inputs.s) > 0 && x == "z") || true',
    'true || false',
    'inputs.l.all(x, inputs.nope == 1) || true',
    '(inputs.nope == 1 && false) || true',
  ])('is not hidden by what swallows failures: %s', (source) => {
    const budget = costBudget(0);
    const inputs = { l: ['a'], s: 'a' };
    expect(() => compileExpression(source).evaluate(scopeOf(inputs), budget)).toThrow(/exceeds the cost limit/);
  });

  test('stops the next evaluation, too', () => {
    const budget = costBudget(10);
    const evaluate = (source: string) => compileExpression(source).evaluate(scopeOf({ l: [1, 2, 3, 4, 5] }), budget);
    expect(() => evaluate('inputs.l.all(x, x > 0)')).toThrow(/exceeds the cost limit/);
    expect(() => evaluate('inputs.l.size() > 0')).toThrow(/exceeds the cost limit/);
    expect(() => evaluate('1')).not.toThrow(CostExceeded);
  });
});

describe('known attacks', () => {
  const list = Array.from({ length: 40_000 }, (_, i) => i);

  test.each([
    'inputs.a.map(x, inputs.b)',
    'inputs.a.map(x, inputs.s)',
    '[inputs.s].map(x, [x, x, x, x]).map(x, [x, x, x, x]).map(x, [x, x, x, x]).map(x, [x, x, x, x])',
    'inputs.a.all(x, size(inputs.s) > 0)',
    'inputs.a.all(x, inputs.b == inputs.c)',
    'inputs.a.all(x, x in inputs.b)',
    'inputs.a.exists(x, x.nope == 1)',
    'inputs.a.all(x, !inputs.s.contains("ab"))',
    'inputs.a.all(x, !("z" in inputs.s.split("")))',
    'inputs.a.exists(x, inputs.s.matches("(x+x+)+y"))',
    'inputs.a.map(x, timestamp("2024-01-01T00:00:00Z").getHours("Europe/Zurich")) == []',
    'inputs.s.contains(inputs.p)',
  ])('%s is stopped by its cost', (source) => {
    const inputs = { a: list, b: list, c: [...list], s: 'a'.repeat(100_000), p: `b${'a'.repeat(50_000)}` };
    expect(() => compileExpression(source).evaluate(scopeOf(inputs))).toThrow(/may cost 500000 units together/);
  });
});
