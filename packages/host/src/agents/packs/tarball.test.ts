import { gzipSync } from 'node:zlib';
import { Header, Pack, ReadEntry } from 'tar';
import { describe, expect, test } from 'vitest';
import { samplePack } from '../../../test/kit/sample-pack.ts';
import { packLimits, packPath } from './pack-files.ts';
import { integrityOf, makeTarball, openTarball } from './tarball.ts';

interface Entry {
  readonly path: string;
  readonly content?: Buffer | string;
  readonly type?: 'File' | 'SymbolicLink' | 'Link' | 'CharacterDevice' | 'FIFO' | 'Directory';
  readonly linkpath?: string;
}

/** An archive as a hostile hand would make it. */
function tar(...entries: readonly Entry[]): Buffer {
  const pack = new Pack({ portable: true });
  const chunks: Buffer[] = [];
  pack.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const { path, content = '', type = 'File', linkpath } of entries) {
    const bytes = Buffer.from(content);
    const link = linkpath === undefined ? {} : { linkpath };
    const entry = new ReadEntry(
      new Header({ path, type, size: bytes.length, mode: 0o644, mtime: new Date(0), ...link }),
    );
    entry.end(bytes);
    pack.add(entry);
  }
  pack.end();
  return Buffer.concat(chunks);
}

/** The same archive with its first entry of a type that no library writes. */
function retyped(bytes: Buffer, flag: string): Buffer {
  const changed = Buffer.from(bytes);
  changed.write(flag, 156);
  changed.fill(' ', 148, 156);
  const sum = changed.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return changed;
}

const refusedWith = (bytes: Buffer, code: string) =>
  expect(openTarball(bytes)).rejects.toMatchObject({ code, message: expect.any(String), hint: expect.any(String) });

test('what goes into an archive comes out of it, in the order of the names', async () => {
  const files = samplePack({}, { 'a.bin': Buffer.from([0, 255, 128]), [`deep/${'n'.repeat(180)}.md`]: 'é' });
  const opened = await openTarball(makeTarball(files));
  expect([...opened.keys()]).toEqual([...files.keys()].sort());
  for (const [path, content] of files) expect(opened.get(path)).toEqual(content);
});

test('equal files give equal archives', () => {
  expect(makeTarball(samplePack())).toEqual(makeTarball(samplePack()));
});

test('an archive of a folder, with "./" before every name, is read', async () => {
  const bytes = tar({ path: './', type: 'Directory' }, { path: './pack.json', content: '{}' });
  expect([...(await openTarball(gzipSync(bytes))).keys()]).toEqual(['pack.json']);
});

describe('a tarball is refused', () => {
  const cases: readonly [string, string, Buffer][] = [
    ['that is empty', 'tarball_gunzip_failed', Buffer.alloc(0)],
    ['that is no gzip', 'tarball_gunzip_failed', Buffer.from('hello')],
    ['that was cut short', 'tarball_gunzip_failed', makeTarball(samplePack()).subarray(0, 200)],
    ['that holds no tar', 'tarball_tar_parse_failed', gzipSync('hello')],
    ['that holds nothing', 'tarball_tar_parse_failed', gzipSync('')],
    [
      'whose tar was cut short',
      'tarball_tar_parse_failed',
      gzipSync(tar({ path: 'a', content: 'b' }).subarray(0, 600)),
    ],
    ['that is compressed twice', 'tarball_tar_parse_failed', gzipSync(gzipSync(tar({ path: 'a' })))],
    ['with a path twice', 'tarball_tar_parse_failed', gzipSync(tar({ path: 'a' }, { path: './a' }))],
    ['with ".." in a path', 'tarball_path_traversal', gzipSync(tar({ path: 'a/../../b' }))],
    ['with a backslash in a path', 'tarball_path_traversal', gzipSync(tar({ path: 'a\\..\\b' }))],
    [
      'with a symbolic link',
      'tarball_path_traversal',
      gzipSync(tar({ path: 'a', type: 'SymbolicLink', linkpath: '/' })),
    ],
    ['with a hard link', 'tarball_path_traversal', gzipSync(tar({ path: 'a', type: 'Link', linkpath: 'b' }))],
    ['with a device', 'tarball_path_traversal', gzipSync(tar({ path: 'a', type: 'CharacterDevice' }))],
    ['with a pipe', 'tarball_path_traversal', gzipSync(tar({ path: 'a', type: 'FIFO' }))],
    ['with a dump of a folder', 'tarball_path_traversal', gzipSync(retyped(tar({ path: 'a', content: 'b' }), 'D'))],
    ['with a sparse file', 'tarball_path_traversal', gzipSync(retyped(tar({ path: 'a', content: 'b' }), 'S'))],
    [
      'with a file above its size',
      'tarball_entry_too_large',
      gzipSync(tar({ path: 'a', content: Buffer.alloc(packLimits.entryBytes + 1) })),
    ],
    [
      'with a pack.json above its size',
      'tarball_manifest_too_large',
      gzipSync(tar({ path: 'pack.json', content: Buffer.alloc(packLimits.manifestBytes + 1) })),
    ],
    [
      'with too many files',
      'tarball_too_large',
      gzipSync(tar(...Array.from({ length: packLimits.entries + 1 }, (_, i) => ({ path: `f${i}` })))),
    ],
    [
      'with too many folders',
      'tarball_too_large',
      gzipSync(
        tar(
          ...Array.from({ length: packLimits.entries + 1 }, (_, i) => ({ path: `d${i}/`, type: 'Directory' as const })),
        ),
      ),
    ],
    [
      'with more files and folders than entries, although fewer of each',
      'tarball_too_large',
      gzipSync(
        tar(
          ...Array.from({ length: packLimits.entries + 1 }, (_, i) =>
            i % 2 === 0 ? { path: `d${i}/`, type: 'Directory' as const } : { path: `f${i}` },
          ),
        ),
      ),
    ],
  ];
  test.each(cases)('%s', (_, code, bytes) => refusedWith(bytes, code));

  test('that is a bomb, without being inflated to its end', async () => {
    const bomb = gzipSync(Buffer.alloc(packLimits.unpackedBytes * 3), { level: 9 });
    expect(bomb.length).toBeLessThan(packLimits.unpackedBytes / 100);
    const before = process.memoryUsage().arrayBuffers;
    await refusedWith(bomb, 'tarball_too_large');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(packLimits.unpackedBytes * 2);
  });

  test('that is not the one it was said to be', async () => {
    const bytes = makeTarball(samplePack());
    await openTarball(bytes, integrityOf(bytes));
    const other = integrityOf(Buffer.from('other'));
    await expect(openTarball(bytes, other)).rejects.toMatchObject({
      code: 'pack_integrity_mismatch',
      details: { expected: other, actual: integrityOf(bytes) },
    });
  });
});

test.each([
  '/etc/passwd',
  '..',
  'a/..',
  'C:/x',
  'a//b',
  'a/./b',
  '',
  'a\u0000b',
  '\ud800',
  '__proto__',
  'a/__proto__/b',
  'n'.repeat(256),
])('the path %j is none inside a pack', (path) => {
  expect(() => packPath(path, 'It')).toThrow(expect.objectContaining({ code: 'tarball_path_traversal' }));
});

test.each([
  ['./a/b.md', 'a/b.md'],
  ['a/', 'a'],
  ['..a/b..', '..a/b..'],
  ['ä/😀', 'ä/😀'],
])('the path %j is kept as %j', (path, kept) => {
  expect(packPath(path, 'It')).toBe(kept);
});
