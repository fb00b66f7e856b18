/** Keeps the index of docs/decisions complete, and the pages in one form: a decision nobody finds is made again. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../docs/decisions');
const pages = readdirSync(folder).filter((name) => name !== 'README.md');
const text = (name: string): string => readFileSync(join(folder, name), 'utf8');

test.each(pages)('%s is in the index, under a number of its own, with context, choice and consequence', (name) => {
  const number = name.slice(0, 4);
  expect(text('README.md')).toContain(`| [${number}](${name}) | `);
  expect(pages.filter((page) => page.startsWith(number))).toEqual([name]);
  expect(text(name)).toMatch(new RegExp(`^# ${number}: `));
  for (const part of ['Context', 'Choice', 'Consequence']) expect(text(name)).toMatch(new RegExp(`^## ${part}`, 'm'));
});
