import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { testFile } from './import-table.ts';

const root = dirname(import.meta.dirname);
const packages = ['protocol', 'client', 'host', 'studio'].map((name) => join(root, 'packages', name, 'src'));

const isSource = (name: string): boolean => /\.tsx?$/.test(name) && !testFile.test(name);

/** A folder with fewer sources needs no guide. */
const FEW = 3;

const inside = (folder: string, recursive: boolean): readonly string[] =>
  readdirSync(folder, { recursive, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));

const folders = [
  ...packages.flatMap((folder) => inside(folder, true)),
  ...inside(join(root, 'e2e'), false),
  join(root, 'packages/host/test/kit'),
].filter((folder) => readdirSync(folder).filter(isSource).length > FEW);

/** A README may name a file from its own folder or from the sources of the host. */
const bases = (path: string): readonly string[] => [join(root, path), join(root, 'packages/host/src')];

test.each(folders.map((folder) => [relative(root, folder)]))(
  '%s has a README with three files to read first',
  (path) => {
    const text = readFileSync(join(root, path, 'README.md'), 'utf8');
    const [first = ''] = text.split(/^Read first:\s*/m)[1]?.split('\n\n') ?? [];
    const named = [...first.matchAll(/`([\w./-]+\.tsx?)`|\]\(([\w./-]+\.tsx?)\)/g)].map(
      ([, code, link]) => code ?? link ?? '',
    );
    const missing = named.filter((file) => !bases(path).some((base) => existsSync(join(base, file))));
    expect(missing).toEqual([]);
    expect(named.length).toBeGreaterThanOrEqual(3);
  },
);
