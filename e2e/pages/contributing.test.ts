/** Keeps the recipes of CONTRIBUTING.md usable: the twelve that are promised, with files that exist and a check that runs them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
const [, howToAdd = ''] = /^## How to add\n([\s\S]*?)(?=^## )/m.exec(page) ?? [];

const recipes = howToAdd
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ name: text.slice(0, text.indexOf('\n')), text }));

/** Files and folders of this repository that a text names in backticks or links to. */
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:packages|docs|e2e|scripts)\/[\w./-]+)`|\]\(((?:docs|scripts)\/[\w./-]+)/g)].map(
    ([, named, linked]) => named ?? linked ?? '',
  );

test('there is a recipe for each of the twelve additions', () => {
  expect(recipes.map(({ name }) => name)).toEqual([
    'A node type',
    'A route',
    'A CLI verb',
    'A configuration key',
    'An event type',
    'A model provider',
    'A tool',
    'A stream mode',
    'A channel reducer',
    'An error code',
    'A metric',
    'A table',
  ]);
});

test.each(recipes)('the recipe "$name" names files that exist, a test and a check', ({ text }) => {
  const paths = pathsIn(text);
  expect(paths.length).toBeGreaterThan(2);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const [, test = ''] = /^- \*\*Test:\*\* (.*)$/m.exec(text) ?? [];
  expect(test).not.toBe('');
  const [, check = ''] = /^- \*\*Check:\*\* `npx vitest run (.*)`$/m.exec(text) ?? [];
  const suites = check.split(' ');
  expect(suites.filter((suite) => suite === '' || !existsSync(join(root, suite)))).toEqual([]);
  // A screen.
  expect(text.split('\n').length).toBeLessThan(20);
});
