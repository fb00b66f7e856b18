import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';
import { allOf } from './slices.ts';
import { linesOf } from './text-diff.ts';

const room = () => ({ characters: 1_000_000, cut: 0 });
const diff = (a: string, b: string) => allOf(lineDiff(linesOf(a), linesOf(b), room()));

/** Few different lines, so that texts have much in common. */
const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 }), fc.constantFrom('', 'end'))
  .map(([lines, end]) => `${lines.map((line) => `${line}\n`).join('')}${end}`);

/** Carries a diff out, as `patch` does. */
function patched(a: string, b: string): string {
  const found = diff(a, b);
  const from = linesOf(a);
  const made: string[] = [];
  let at = 0;
  for (const hunk of found?.hunks ?? []) {
    const start = hunk.a.lines === 0 ? hunk.a.start : hunk.a.start - 1;
    made.push(...from.slice(at, start));
    expect(made).toHaveLength(hunk.b.lines === 0 ? hunk.b.start : hunk.b.start - 1);
    const own = hunk.lines.filter(({ op }) => op !== 'added');
    expect(own).toHaveLength(hunk.a.lines);
    expect(own.map(({ text, noNewline }) => `${text}${noNewline === true ? '' : '\n'}`)).toEqual(
      from.slice(start, start + hunk.a.lines),
    );
    const theirs = hunk.lines.filter(({ op }) => op !== 'removed');
    expect(theirs).toHaveLength(hunk.b.lines);
    made.push(...theirs.map(({ text, noNewline }) => `${text}${noNewline === true ? '' : '\n'}`));
    at = start + hunk.a.lines;
  }
  return [...made, ...from.slice(at)].join('');
}

test('the hunks of a difference turn the first text into the second', () => {
  fc.assert(fc.property(text, text, (a, b) => patched(a, b) === b));
});

test('the difference is a shortest one', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const found = diff(a, b);
      const [one, other] = [linesOf(a), linesOf(b)];
      const common = longestCommon(one, other);
      return found?.added === other.length - common && found.removed === one.length - common;
    }),
  );
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    for (const [j, other] of b.entries()) {
      next.push(line === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

test('a search beyond its bound gives up, and yields to other work on its way', () => {
  const many = (name: string) => Array.from({ length: 3_000 }, (_, i) => `${name}${i % 7} ${i}\n`);
  const search = lineDiff(many('x'), many('y'), room());
  let yields = 0;
  for (;;) {
    const { done, value } = search.next();
    if (done === true) {
      expect(value).toBeNull();
      break;
    }
    yields += 1;
  }
  expect(yields).toBeGreaterThan(4);
});
