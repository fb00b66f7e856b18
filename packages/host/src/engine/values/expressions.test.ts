import type { EdgeCondition, Json } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { compileCondition } from '../workflow/conditions.ts';
import { compileExpression, type Scope } from './expressions.ts';
import { compileSchema } from './schemas.ts';

/** A machine that is busy with something else makes an attempt slow, never quick: of five the quickest counts. */
function quickestMs(attempt: () => void): number {
  const spans = Array.from({ length: 5 }, () => {
    const began = performance.now();
    attempt();
    return performance.now() - began;
  });
  return Math.min(...spans);
}

const scope = (more: Partial<Scope> = {}): Scope => ({
  inputs: { a: 5, list: [1, 2, 3], text: 'abc' },
  variables: { n: 3 },
  outputs: { node: { ok: true } },
  output: { status: 'done', tags: ['x', 'y'], deep: { list: [{ v: 1 }] } },
  channels: { c: [1] },
  ...more,
});
const value = (source: string, given = scope()): Json => compileExpression(source).evaluate(given);

describe('expressions', () => {
  test.each<[string, Json]>([
    ['inputs.a + 1', 6],
    ['1 + inputs.a', 6],
    ['inputs.a - 1', 4],
    ['inputs.a % 2 == 1', true],
    ['inputs.a / 2', 2.5],
    ['inputs.list.size() - 1', 2],
    ['inputs.list[variables.n - 1]', 3],
    ['inputs.list.map(x, x * 2)', [2, 4, 6]],
    ['inputs.list.filter(x, x > 1).map(y, {"v": y})', [{ v: 2 }, { v: 3 }]],
    ['inputs.list.map(x, x > 1, x + 1)', [3, 4]],
    ['inputs.list.exists(x, x == 2) && inputs.list.all(x, x > 0)', true],
    [
      'inputs.list.map(a, inputs.list.map(b, a + b))',
      [
        [2, 3, 4],
        [3, 4, 5],
        [4, 5, 6],
      ],
    ],
    ['has(inputs.nope) ? 1 : -inputs.a', -5],
    ['outputs.node.ok && !(variables.n > 9)', true],
    ['"x" + \'y\' + "\\u00e9"', 'xyé'],
    ['[1, "two", null]', [1, 'two', null]],
    ['channels.c + [2]', [1, 2]],
    ['inputs.text.matches("^a.c$")', true],
    ['1.5e3', 1500],
    ['"a" in {"a": 1}', true],
  ])('%s', (source, expected) => {
    expect(value(source)).toEqual(expected);
  });

  test.each([
    '1 +',
    'secret.x',
    'cel.bind(x, 1, x)',
    'cairn_turn(inputs)',
    'inputs.cairn_matches("x")',
    'x'.repeat(5_000),
  ])('refuses %s when it is compiled', (source) => {
    expect(() => compileExpression(source)).toThrow();
  });

  test('a constant that fails when it is compiled says why', () => {
    for (const source of ['9223372036854775808', '1 + 0x8000000000000000']) {
      expect(() => compileExpression(source)).toThrow(RangeError);
      expect(() => compileExpression(source)).toThrow('an integer overflows 64 bits');
    }
  });

  test.each([
    'inputs.nope',
    '1 / 0',
    '"1" + 1',
    'timestamp("2024-01-01T00:00:00Z")',
    '9007199254740993',
    'inputs.constructor',
  ])('says that %s failed', (source) => {
    expect(() => value(source)).toThrow(expect.objectContaining({ code: 'expression_failed' }));
  });

  test('matches in linear time', () => {
    const text = `${'a'.repeat(40)}!`;
    const match = () => expect(value('inputs.text.matches("^(a+)+$")', scope({ inputs: { text } }))).toBe(false);
    expect(quickestMs(match)).toBeLessThan(50);
  });

  test.each([
    'inputs.l.map(a, inputs.l.map(b, inputs.l.map(c, 1)))',
    'inputs.l.filter(a, inputs.l.exists(b, b < 0))',
    `[inputs.l]${'.map(a, a + a)'.repeat(20)}`,
    `[inputs.s]${'.map(a, a + a)'.repeat(20)}`,
    'inputs.l.exists(a, inputs.s.matches("(x+x+)+y"))',
  ])('stops %s before it costs much', (source) => {
    const inputs = { l: Array.from({ length: 2_000 }, (_, i) => i), s: 'x'.repeat(1_000) };
    const stop = () => expect(() => value(source, scope({ inputs }))).toThrow(/cost limit/);
    expect(quickestMs(stop)).toBeLessThan(500);
  });

  test('nested too deeply are refused', () => {
    expect(() => compileExpression(`${'('.repeat(200)}1${')'.repeat(200)}`)).not.toThrow(/stack/);
    expect(() => compileExpression(`${'!'.repeat(60)}true`)).toThrow(/deep|depth|Depth/);
  });
});

describe('conditions', () => {
  const holds = (condition: EdgeCondition) => compileCondition(condition)(scope());

  test.each<[EdgeCondition, boolean]>([
    [{ type: 'equals', left: 'status', right: 'done' }, true],
    [{ left: 'output.status', right: 'done' }, true],
    [{ type: 'equals', left: 'outputs.deep.list[0].v', right: 1 }, true],
    [{ type: 'equals', left: 'deep', right: { list: [{ v: 1 }] } }, true],
    [{ type: 'equals', left: 'variables.n', right: 3 }, true],
    [{ type: 'equals', left: 'inputs.a', right: '5' }, false],
    [{ type: 'equals', left: 'nope.nope', right: null }, false],
    [{ type: 'notEquals', left: 'nope', right: 1 }, true],
    [{ type: 'notEquals', left: 'status', right: 'done' }, false],
    [{ type: 'contains', left: 'tags', right: 'x' }, true],
    [{ type: 'contains', left: 'status', right: 'on' }, true],
    [{ type: 'contains', left: 'deep', right: 'list' }, true],
    [{ type: 'contains', left: 'nope', right: 'x' }, false],
    [{ type: 'regex', left: 'status', right: '^d.n' }, true],
    [{ type: 'regex', left: 'inputs.a', right: '^5$' }, true],
    [{ type: 'regex', left: 'tags', right: 'x' }, false],
    [{ type: 'expression', expression: 'output.status == "done"' }, true],
    [{ expression: '"truthy"' }, false],
  ])('%j is %s', (condition, expected) => {
    expect(holds(condition)).toBe(expected);
  });
});

describe('schemas', () => {
  test('tell two patterns apart and match them in linear time', () => {
    const check = compileSchema({
      properties: { a: { type: 'string', pattern: '^(a+)+$' }, b: { type: 'string', pattern: '^b$' } },
    });
    const refuse = () => expect(check({ a: `${'a'.repeat(40)}!` })).toHaveLength(1);
    expect(quickestMs(refuse)).toBeLessThan(50);
    expect(check({ a: 'aa', b: 'b' })).toEqual([]);
    expect(check({ b: 'aa' })[0]).toContain('/b');
  });

  test('with equal ids and different contents do not meet', () => {
    const text = compileSchema({ $id: 'https://example.org/x', type: 'string' });
    const number = compileSchema({ $id: 'https://example.org/x', type: 'number' });
    expect([text('a').length, text(1).length, number(1).length]).toEqual([0, 1, 0]);
  });

  test('that are too large are refused', () => {
    expect(() => compileSchema({ description: 'x'.repeat(70_000) })).toThrow(/characters/);
  });
});
