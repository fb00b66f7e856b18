/** Whatever is wrong with a data folder is said by name, with the file and what to do. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { creation, row, runA, runB } from '../../ports/samples.kit.ts';
import { folders, open } from './folders.kit.ts';

const { fresh } = folders();
const fileOf = (folder: string): string => join(folder, 'cairn.db');

describe('a folder that another process has', () => {
  /** A process that holds the folder until it is killed. */
  async function holder(folder: string): Promise<ChildProcess> {
    const module = new URL('./open.ts', import.meta.url).href;
    const script = `
      import { openSqliteStore } from ${JSON.stringify(module)};
      await openSqliteStore({ folder: ${JSON.stringify(folder)} });
      console.log('open');
      process.stdin.resume();`;
    const args = ['--conditions=@cairn/source', '--input-type=module', '-e', script];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(present(child.stdout), 'data');
    return child;
  }

  it('is refused by name, and free again once that process is killed', async () => {
    const folder = fresh();
    const child = await holder(folder);
    await expect(open(folder)).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining(folder),
      hint: expect.any(String),
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const store = await open(folder);
    await store.close();
  });

  it('is refused in the same process too, until the first store is closed', async () => {
    const folder = fresh();
    const first = await open(folder);
    await expect(open(folder)).rejects.toMatchObject({ code: 'store_locked' });
    await first.close();
    await (await open(folder)).close();
  });
});

describe('a database of a later program', () => {
  it('is refused with both versions and the file, and left as it was', async () => {
    const folder = fresh();
    await (await open(folder)).close();
    const db = new DatabaseSync(fileOf(folder));
    db.exec('PRAGMA user_version = 999');
    db.close();
    const bytes = readFileSync(fileOf(folder));
    await expect(open(folder)).rejects.toMatchObject({
      code: 'store_newer',
      message: expect.stringMatching(/cairn\.db.*999.*up to \d+\b/),
      hint: expect.any(String),
    });
    expect(readFileSync(fileOf(folder)).equals(bytes)).toBe(true);
  });
});

describe('a damaged database', () => {
  const damaged = { code: 'store_corrupt', message: expect.stringContaining('cairn.db'), hint: expect.any(String) };

  it('is refused when the file is something else', async () => {
    const folder = fresh();
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(fileOf(folder), 'This is a letter, not a database. '.repeat(500));
    await expect(open(folder)).rejects.toMatchObject(damaged);
    // The refusal lets go of the folder.
    await expect(open(folder)).rejects.toMatchObject(damaged);
  });

  /** A closed folder whose database has these pages overwritten; negative ones count from the end. */
  async function withDamage(pages: readonly number[]): Promise<string> {
    const folder = fresh();
    const store = await open(folder);
    await store.log.append(creation(runA, { rows: [row('run.started'), ...manyRows(400)] }));
    await store.log.append(creation(runB));
    await store.close();
    const count = statSync(fileOf(folder)).size / 4_096;
    const file = openSync(fileOf(folder), 'r+');
    for (const page of pages) {
      writeSync(file, Buffer.alloc(4_096, 0xa5), 0, 4_096, (page < 0 ? count + page : page) * 4_096);
    }
    closeSync(file);
    return folder;
  }

  it.each([
    ['the last page', [-1]],
    ['a page in the middle', [-40]],
  ])('is refused at start after a crash that left %s damaged', async (_, pages) => {
    const folder = await withDamage(pages);
    writeFileSync(join(folder, 'cairn.running'), '');
    await expect(open(folder)).rejects.toMatchObject(damaged);
  });

  it('is named by the read that meets the damage when the start had no reason to look', async () => {
    const store = await open(await withDamage([-40]));
    await expect(store.log.read({ runId: runA, after: -1, limit: 10_000 })).rejects.toMatchObject(damaged);
    await store.close();
  });
});

const manyRows = (count: number) =>
  Array.from({ length: count }, () => row('a', { payload: JSON.stringify('y'.repeat(900)) }));

describe('a folder that cannot be used', () => {
  it('is refused when a file is in its place', async () => {
    const folder = fresh();
    writeFileSync(folder, '');
    await expect(open(folder)).rejects.toMatchObject({ code: 'store_failed' });
  });
});
