import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { present } from '../../packages/host/test/kit/present.ts';
import { plantedBugs } from './bugs.ts';
import { plant, suiteName } from './planted-bug.ts';

const root = join(import.meta.dirname, '..', '..');

test('lists at least ten defects, each under a name of its own', () => {
  expect(plantedBugs.length).toBeGreaterThanOrEqual(10);
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
});

describe('can be planted: what it changes stands once in the source', () => {
  test.each(plantedBugs)('$name', async (bug) => {
    const { sound, defective } = await plant(root, bug);
    expect(defective).not.toBe(sound);
  });
});

test('refuses a defect whose text is not in the source', async () => {
  const stale = { ...present(plantedBugs[0]), find: 'text that no file of ours has' };
  await expect(plant(root, stale)).rejects.toThrow('occurs 0 times');
});

test('has the list for readers say the same as the data', async () => {
  const page = await readFile(join(root, 'docs', 'planted-bugs.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const expected = plantedBugs.map(
    ({ name, file, suite, why }) => `| \`${name}\` | \`${file}\` | \`${suiteName(suite)}\` | ${why} |`,
  );
  expect(rows).toEqual(expected);
});
