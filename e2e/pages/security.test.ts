/** Each limit and claim of the security page names a test that there is. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/reference/security.md'), 'utf8');

/** The rows of the table below a heading, as cells. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => line.slice(1, -1).split('|'));
}

const rows = ['Bounded work', 'Evidence'].flatMap(rowsOf);

test.each(rows.map((cells) => [cells[0]?.trim() ?? '', cells.at(-1) ?? '']))('%s', (_, named) => {
  const files = [...named.matchAll(/`([^`]+\.ts|e2e\/[^`]+\/)`/g)].map(([, file = '']) => file);
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !hasTests(file))).toEqual([]);
});

test('the page has the limits and the claims', () => {
  expect(rowsOf('Bounded work').length).toBeGreaterThan(15);
  expect(rowsOf('Evidence').length).toBeGreaterThan(30);
});

function hasTests(file: string): boolean {
  const path = join(root, /^(packages|e2e)\//.test(file) ? '' : 'packages/host/src', file);
  if (file.includes('*')) return readdirSync(join(path, '..')).some((name) => name.endsWith('.test.ts'));
  if (!existsSync(path)) return false;
  if (file.endsWith('/')) return readdirSync(path).some((name) => name.endsWith('.test.ts'));
  return /^\s*(test|it)[.(]/m.test(readFileSync(path, 'utf8'));
}
