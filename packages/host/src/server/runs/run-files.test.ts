import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunId } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { removeRunFiles, runFolders } from './run-files.ts';

const run = 'run_1' as RunId;
const all = { offset: 0, maxBytes: 100 };

/** A data folder of an earlier version. */
async function disk(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const runs = join(folder, 'runs');
  const root = join(runs, run, 'files');
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return { folder, runs, root, files: runFolders(runs) };
}

const refused = (message: string) => ({ code: 'tool_failed', message: expect.stringContaining(message) });

test('what an earlier version wrote is read and listed, in parts', async () => {
  const { files } = await disk({ 'a.txt': 'bc', 'notes/plan.md': 'plan' });
  expect(await files.read(run, 'a.txt', all)).toEqual({ bytes: Buffer.from('bc'), size: 2 });
  expect(await files.read(run, 'notes/plan.md', { offset: 1, maxBytes: 2 })).toEqual({
    bytes: Buffer.from('la'),
    size: 4,
  });
  expect(await files.read(run, 'a.txt', { offset: 50, maxBytes: 9 })).toEqual({ bytes: Buffer.alloc(0), size: 2 });
  expect(await files.list(run, '')).toEqual([
    { path: 'a.txt', bytes: 2 },
    { path: 'notes/plan.md', bytes: 4 },
  ]);
  expect(await files.list(run, 'notes')).toEqual([{ path: 'notes/plan.md', bytes: 4 }]);
});

test('a file of another run is not there, and no id of a run leads elsewhere', async () => {
  const { files } = await disk({ 'a.txt': 'a' });
  for (const other of ['run_2', '../run_1', '..', '.', '', 'run_1/files', 'run_1.', '.run_1', 'run_1..2'] as RunId[]) {
    expect(await files.read(other, 'a.txt', all)).toBeNull();
    expect(await files.list(other, '')).toEqual([]);
  }
  expect(await files.read(run, 'b.txt', all)).toBeNull();
  expect(await files.read(run, 'a.txt/b', all)).toBeNull();
});

test('a link leads nowhere, and a folder is no file', async () => {
  const { folder, files, root } = await disk({ a: 'a', 'folder/b': 'b' });
  const outside = join(folder, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), 'secret');
  await symlink(join(outside, 'secret'), join(root, 'link'));
  await symlink(outside, join(root, 'door'));
  for (const path of ['link', 'door/secret']) {
    await expect(files.read(run, path, all)).rejects.toMatchObject(refused('is a link'));
  }
  await expect(files.list(run, 'door')).rejects.toMatchObject(refused('is a link'));
  await expect(files.read(run, 'folder', all)).rejects.toMatchObject(refused('is not a file'));
  expect(await files.list(run, '')).toEqual([
    { path: 'a', bytes: 1 },
    { path: 'folder/b', bytes: 1 },
  ]);
});

test('the folder of a purged run goes', async () => {
  const { files, runs } = await disk({ a: 'a' });
  await removeRunFiles(runs)('..' as RunId);
  await removeRunFiles(runs)(run);
  expect(await files.list(run, '')).toEqual([]);
});
