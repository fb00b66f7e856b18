import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { uniqueId } from '../compose.ts';
import { createRunFiles } from './run-files.ts';

const run = 'run_1' as RunId;

function disk() {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const runs = join(folder, 'runs');
  return { folder, root: join(runs, run, 'files'), files: createRunFiles({ folder: runs, uniqueId }) };
}

const refused = (message: string) => ({ code: 'tool_failed', message: expect.stringContaining(message) });

test('what was written is read, listed and replaced, and nothing else is left behind', async () => {
  const { files, root } = disk();
  expect(await files.list(run, '')).toEqual([]);
  expect(await files.write(run, 'notes/plan.md', 'grüße')).toEqual({ path: 'notes/plan.md', bytes: 7 });
  await files.write(run, 'a.txt', 'a');
  await files.write(run, 'a.txt', 'bc');
  await files.write(run, 'a.txt', 'bc');
  expect(await files.read(run, 'a.txt', 0, 100)).toEqual({ text: 'bc', bytes: 2, nextOffset: null });
  expect(await files.read(run, 'notes/plan.md', 0, 100)).toEqual({ text: 'grüße', bytes: 7, nextOffset: null });
  expect(await files.list(run, '')).toEqual([
    { path: 'a.txt', bytes: 2 },
    { path: 'notes/plan.md', bytes: 7 },
  ]);
  expect(await files.list(run, 'notes')).toEqual([{ path: 'notes/plan.md', bytes: 7 }]);
  expect(await readdir(join(root, '..'))).toEqual(['files']);
});

test('a file of another run is not there', async () => {
  const { files } = disk();
  await files.write(run, 'a.txt', 'a');
  const other = 'run_2' as RunId;
  await expect(files.read(other, 'a.txt', 0, 10)).rejects.toMatchObject(refused('There is no file "a.txt"'));
  expect(await files.list(other, '')).toEqual([]);
  for (const odd of ['../run_1', '..', '.', '', 'run_1/files', 'run_1.', '.run_1', 'run_1..2'] as RunId[]) {
    // As a rejection or at once: what matters is that nothing is read.
    await expect((async () => files.read(odd, 'a.txt', 0, 10))()).rejects.toMatchObject(refused('has no files'));
  }
});

test('a run that another run started has files of its own', async () => {
  const { files } = disk();
  const child = 'run_1.2.1' as RunId;
  await files.write(run, 'a.txt', 'a');
  await files.write(child, 'b.txt', 'b');
  expect(await files.list(run, '')).toEqual([{ path: 'a.txt', bytes: 1 }]);
  expect(await files.list(child, '')).toEqual([{ path: 'b.txt', bytes: 1 }]);
});

test('a text of any alphabet is read whole in parts of any size', async () => {
  const { files } = disk();
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.integer({ min: 4, max: 9 }),
      async (text, size) => {
        const { bytes } = await files.write(run, 'text', text);
        let got = '';
        for (let offset: number | null = 0; offset !== null; ) {
          const part: Awaited<ReturnType<typeof files.read>> = await files.read(run, 'text', offset, size);
          expect(part.bytes).toBe(bytes);
          got += part.text;
          offset = part.nextOffset;
        }
        expect(got).toBe(text);
      },
    ),
    { numRuns: 100 },
  );
});

test('what is no text, no file or not there is refused, by name', async () => {
  const { files, root } = disk();
  await files.write(run, 'folder/a', 'a');
  await writeFile(join(root, 'binary'), Buffer.from([0x66, 0xff, 0x00]));
  await expect(files.read(run, 'binary', 0, 10)).rejects.toMatchObject(refused('is not UTF-8 text'));
  await expect(files.read(run, 'folder', 0, 10)).rejects.toMatchObject(refused('is no file'));
  await expect(files.read(run, 'folder/a/b', 0, 10)).rejects.toMatchObject(refused('There is no file'));
  await expect(files.write(run, 'folder', 'x')).rejects.toMatchObject(refused('"folder" is a folder'));
  await expect(files.write(run, 'folder/a/b', 'x')).rejects.toMatchObject(refused('is a file'));
  expect(await files.read(run, 'folder/a', 50, 10)).toEqual({ text: '', bytes: 1, nextOffset: null });
});

test('a link leads nowhere: not to read, not to write, not to list, however it is placed', async () => {
  const { folder, files, root } = disk();
  const outside = join(folder, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), 'secret');
  await files.write(run, 'a', 'a');
  await symlink(join(outside, 'secret'), join(root, 'link'));
  await symlink(outside, join(root, 'door'));
  await symlink(join(outside, 'new'), join(root, 'dangling'));
  for (const path of ['link', 'door/secret', 'dangling']) {
    await expect(files.read(run, path, 0, 10)).rejects.toMatchObject(refused('is a link'));
    await expect(files.write(run, path, 'x')).rejects.toMatchObject(refused('is a link'));
  }
  await expect(files.list(run, 'door')).rejects.toMatchObject(refused('is a link'));
  expect(await files.list(run, '')).toEqual([{ path: 'a', bytes: 1 }]);
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
  expect(await readdir(outside)).toEqual(['secret']);
});

test('a run may have so many files and so many bytes, and replacing one is not having one more', async () => {
  const { files, root } = disk();
  await files.write(run, 'first', 'x');
  for (let i = 0; i < 999; i++) await writeFile(join(root, `f${i}`), '');
  await expect(files.write(run, 'one-more', 'x')).rejects.toMatchObject(refused('1000 files'));
  await files.write(run, 'first', 'y');
  await writeFile(join(root, 'f0'), Buffer.alloc(49_999_999));
  await expect(files.write(run, 'first', 'zz')).rejects.toMatchObject(refused('50000001 bytes of 50000000'));
  expect(await files.read(run, 'first', 0, 10)).toMatchObject({ text: 'y' });
});
