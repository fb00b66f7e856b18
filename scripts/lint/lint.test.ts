/** Every rule of the lint command against a fixture that breaks it: lines marked `// refused` are found, nothing else is. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkAddresses } from './check-addresses.ts';
import { castTable, checkCasts } from './check-casts.ts';
import { checkCycles } from './check-cycles.ts';
import { checkDeepImports } from './check-deep-imports.ts';
import { checkGlobals } from './check-globals.ts';
import { checkImports } from './check-imports.ts';
import { checkLength } from './check-length.ts';
import { checkLinks } from './check-links.ts';
import { checkSizes } from './check-sizes.ts';
import { checkVersions } from './check-versions.ts';
import type { Finding } from './finding.ts';
import { parseSource, type Source, sourcesOf } from './source.ts';
import { biome, types, unused } from './tools.ts';
import { filesOf, textOf } from './tree.ts';

const repository = join(import.meta.dirname, '../..');
const fixture = (name: string): string => join(import.meta.dirname, '../lint-fixtures', name);

/** The places a fixture marks as wrong. A mark on the first line of a file stands for the file when `whole` is set. */
function marks(root: string, whole: boolean): readonly string[] {
  return filesOf(root).flatMap((file) =>
    textOf(root, file)
      .split('\n')
      .flatMap((line, index) => (/\/\/ refused$/.test(line) ? [whole ? file : `${file}:${index + 1}`] : [])),
  );
}

const places = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ file, line }) => (line === undefined ? `${file}` : `${file}:${line}`)).sort();

const messages = (findings: readonly Finding[]): string => findings.map(({ message }) => message).join('\n');

describe('rules about sources', () => {
  const byLine: readonly (readonly [string, string, (sources: readonly Source[]) => readonly Finding[]])[] = [
    ['rooms', 'imports only what the table allows', checkImports],
    ['deep', 'never reaches inside another package', checkDeepImports],
    ['pure', 'reaches the world only through ports', checkGlobals],
  ];
  test.each(byLine)('%s: a file %s', (name, _, check) => {
    const root = fixture(name);
    expect(places(check(sourcesOf(root)))).toEqual([...marks(root, false)].sort());
  });

  const byFile: typeof byLine = [
    ['cycles', 'does not import itself through others', checkCycles],
    ['length', 'stays under the cap', (sources) => checkLength(sources, [])],
  ];
  test.each(byFile)('%s: a file %s', (name, _, check) => {
    const root = fixture(name);
    expect(places(check(sourcesOf(root)))).toEqual([...marks(root, true)].sort());
  });

  test('a cycle is shown as the path that closes it', () => {
    expect(messages(checkCycles(sourcesOf(fixture('cycles'))))).toContain(
      'src/a.ts -> packages/protocol/src/b.ts -> packages/protocol/src/folder/c.ts -> packages/protocol/src/a.ts',
    );
  });

  test('a source of the host has a lower cap than a test of it', () => {
    const long = (path: string) => parseSource(path, `export const x = 1;${'\n'.repeat(301)}`);
    const [source, suite] = ['packages/host/src/log/x.ts', 'packages/host/src/log/x.test.ts'];
    expect(places(checkLength([long(source), long(suite)], []))).toEqual([source]);
  });

  test('an exemption from the length cap that is no longer needed is a finding', () => {
    const short = parseSource('packages/protocol/src/x.ts', 'export const x = 1;\n');
    expect(places(checkLength([short], ['packages/protocol/src/x.ts']))).toEqual(['packages/protocol/src/x.ts']);
  });

  test('a file that does not parse is an error, not a clean file', () => {
    expect(() => parseSource('x.ts', 'export const = 1;')).toThrow('x.ts does not parse');
  });
});

describe('casts', () => {
  const sources = sourcesOf(fixture('casts'));
  const file = 'packages/protocol/src/casts.ts';
  const lined = (findings: readonly Finding[]) => findings.filter(({ line }) => line !== undefined);

  test('through unknown and `!` are refused where they stand', () => {
    expect(places(lined(checkCasts(sources, {})))).toEqual([...marks(fixture('casts'), false)].sort());
  });

  test('are bounded for each room, without `as const` and the numbers of indexed access', () => {
    expect(messages(checkCasts(sources, {}))).toContain('has 3 casts in 8 lines (375.0 per thousand)');
    expect(castTable(sources)).toContain('3 in      8 lines  packages/protocol/src');
    const long = parseSource('packages/protocol/src/x.ts', `export const x = y as string;${'\n'.repeat(125)}`);
    expect(checkCasts([long], {})).toEqual([]);
    const dense = parseSource('packages/protocol/src/x.ts', `export const x = y as string;${'\n'.repeat(124)}`);
    expect(places(checkCasts([dense], {}))).toEqual(['packages/protocol/src']);
  });

  test('through unknown pass in a file of the allow-list, which may not be stale', () => {
    expect(places(lined(checkCasts(sources, { [file]: 'a reason' })))).toEqual([`${file}:8`]);
    expect(messages(checkCasts(sources, { 'packages/protocol/src/gone.ts': 'a reason' }))).toContain('take it off');
  });

  test('through unknown are allowed in ten files at most', () => {
    const allowed = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`x${i}.ts`, 'a reason']));
    expect(messages(checkCasts([], allowed))).toContain('11 files may cast through `unknown`; the bound is 10.');
  });
});

describe('sizes', () => {
  const none = { folders: {}, ports: {} };
  const folder = (path: string, count: number) =>
    Array.from({ length: count }, (_, i) => parseSource(`${path}/f${i}.ts`, 'export const x = 1;\n'));
  const full = folder('packages/host/src/full', 25);
  const crowded = folder('packages/host/src/crowded', 26);
  const sources = sourcesOf(fixture('sizes'));
  const file = 'packages/host/src/log/ports/books.ts';

  test('a port has five to eight functions', () => {
    expect(places(checkSizes(sources, none))).toEqual([...marks(fixture('sizes'), false)].sort());
    expect(messages(checkSizes(sources, none))).toContain('Library has 9 functions; a port has 5 to 8.');
  });

  test('a folder has 25 sources at most, without its tests and the folders in it', () => {
    const beside = [
      parseSource('packages/host/src/full/a.test.ts', 'export const x = 1;\n'),
      ...folder('packages/host/src/full/inner', 1),
    ];
    expect(places(checkSizes([...full, ...beside, ...crowded], none))).toEqual(['packages/host/src/crowded']);
  });

  test('an exception has a bound of its own, or none', () => {
    const why = 'a reason';
    const folders = (bound?: number) => ({ ...none, folders: { 'packages/host/src/crowded': { bound, why } } });
    for (const rules of [folders(26), folders()]) expect(checkSizes(crowded, rules)).toEqual([]);
    const more = folder('packages/host/src/crowded', 27);
    expect(messages(checkSizes(more, folders(26)))).toContain('has 27 sources; the bound is 26.');
    const ports = (bound: number) => ({
      ...none,
      ports: { [`${file} Library`]: { bound, why }, [`${file} Drawer`]: { bound: 2, why } },
    });
    expect(checkSizes(sources, ports(9))).toEqual([]);
    expect(messages(checkSizes(sources, ports(8)))).toBe('Library has 9 functions; a port has at most 8.');
  });

  test('an exception that is no longer needed is a finding', () => {
    const why = 'a reason';
    expect(messages(checkSizes(full, { ...none, folders: { 'packages/host/src/full': { why } } }))).toContain(
      'take it',
    );
    const ports = { [`${file} Shelf`]: { bound: 5, why }, [`${file} Gone`]: { bound: 1, why } };
    expect(checkSizes(sources, { ...none, ports })).toHaveLength(4);
  });
});

describe('rules about the tree', () => {
  test('versions are exact and the lockfile names no registry', () => {
    const said = messages(checkVersions(fixture('versions')));
    for (const name of ['caret', 'tag', 'range', 'any', 'fetched']) expect(said).toContain(`${name} is`);
    expect(said.split('\n')).toHaveLength(5);
  });

  test('no machine paths and no registry hosts are written down', () => {
    expect(places(checkAddresses(fixture('addresses'), ['/builds/checkout']))).toEqual([
      '.npmrc:2',
      'guide.md:2',
      'script.sh:1',
      'script.sh:3',
      'script.sh:5',
    ]);
  });

  test('a path that a page or a message names exists inside the repository', () => {
    expect(places(checkLinks(fixture('links')))).toEqual([
      'README.md:1',
      'README.md:2',
      'docs/page.md:1',
      'docs/page.md:3',
      'message.ts:2',
    ]);
  });
});

describe('rules that other programs check', () => {
  // In a folder of its own, because the real configuration leaves the fixtures out.
  test('any, default exports and long functions are errors', async () => {
    const root = mkdtempSync(join(tmpdir(), 'cairn-lint-'));
    try {
      for (const file of ['biome.json', '.gitignore']) copyFileSync(join(repository, file), join(root, file));
      copyFileSync(join(fixture('biome'), 'allowed.ts'), join(root, 'allowed.ts'));
      expect(await biome(root)).toEqual([]);
      copyFileSync(join(fixture('biome'), 'refused.ts'), join(root, 'refused.ts'));
      const said = messages(await biome(root));
      for (const rule of ['noExplicitAny', 'noDefaultExport', 'noExcessiveLinesPerFunction'])
        expect(said).toContain(rule);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test('an unchecked index is a type error', async () => {
    expect(messages(await types(fixture('types')))).toContain('refused.ts(1,14): error TS2322');
  });

  test('files, exports and dependencies that nothing uses are found', async () => {
    const said = messages(await unused(fixture('unused')));
    expect(said).toContain('orphan.ts');
    expect(said).toContain('forgotten');
    expect(said).toContain('zod');
    expect(said).not.toContain('used:');
  });
});
