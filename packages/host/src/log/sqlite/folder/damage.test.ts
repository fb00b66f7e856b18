/** A data folder that lost a part is refused by name and left as it is, never taken for a new one. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { present } from '../../../../test/kit/present.ts';
import { creation } from '../../ports/samples.kit.ts';
import { folders, open } from './folders.kit.ts';

const { fresh, copyOf } = folders();

const fileOf = (folder: string, suffix = '') => join(folder, `cairn.db${suffix}`);

/** A closed folder with a run, as a host leaves it. */
async function used(run = 'run_a'): Promise<string> {
  const folder = fresh();
  const store = await open(folder);
  await store.log.append(creation(run as RunId));
  await store.close();
  return folder;
}

/** The files of a killed host: its write-ahead log has a second run. */
async function killed(folder: string, run = 'run_b'): Promise<string> {
  const store = await open(folder);
  await store.log.append(creation(run as RunId));
  const copy = copyOf(folder);
  await store.close();
  return copy;
}

const contents = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.startsWith('cairn.lock'))
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  );

/** Refused twice with the code, and no file changes. */
async function refused(folder: string, code: string): Promise<void> {
  const before = contents(folder);
  const named = { code, message: expect.stringContaining('cairn.db'), hint: expect.stringMatching(/\S/) };
  await expect(open(folder)).rejects.toMatchObject(named);
  await expect(open(folder)).rejects.toMatchObject(named);
  expect(contents(folder)).toEqual(before);
}

const runsIn = async (folder: string): Promise<readonly string[]> => {
  const store = await open(folder);
  const { runs } = await store.runIndex.list({ tenant: 't', limit: 9 });
  await store.close();
  return runs.map(({ runId }) => runId);
};

describe('a lost database', () => {
  const losses: readonly [string, (file: string) => void][] = [
    ['missing', (file) => rmSync(file)],
    ['empty', (file) => truncateSync(file, 0)],
    [
      'without tables',
      (file) => {
        rmSync(file);
        const db = new DatabaseSync(file);
        db.exec('PRAGMA journal_mode = WAL; PRAGMA application_id = 1');
        db.close();
      },
    ],
  ];

  it.each(losses)('is refused when it is %s beside the stamp of a host', async (_, lose) => {
    const folder = await used();
    lose(fileOf(folder));
    await refused(folder, 'store_missing');
  });

  it.each(losses)('is refused when it is %s beside the key of a host', async (_, lose) => {
    const folder = await used();
    rmSync(join(folder, 'cairn.stamp'));
    writeFileSync(join(folder, 'host.key'), 'x', { mode: 0o600 });
    lose(fileOf(folder));
    await refused(folder, 'store_missing');
  });

  it.each(losses.slice(0, 2))('is refused when it is %s beside its write-ahead log', async (_, lose) => {
    const folder = await killed(await used());
    rmSync(join(folder, 'cairn.stamp'));
    lose(fileOf(folder));
    await refused(folder, 'store_missing');
  });

  it('is refused as damaged when its end is cut off', async () => {
    const folder = await used();
    truncateSync(fileOf(folder), 8 * 4_096);
    await expect(open(folder)).rejects.toMatchObject({ code: 'store_corrupt' });
  });

  it('is a new one when a first start was killed before it had tables', async () => {
    const folder = fresh();
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(fileOf(folder), '');
    expect(await runsIn(folder)).toEqual([]);
  });
});

describe('a write-ahead log', () => {
  it('of a killed host is replayed', async () => {
    expect(await runsIn(await killed(await used()))).toEqual(['run_b', 'run_a']);
  });

  it('is replayed also when the host was killed again and again, and when an older version wrote the folder', async () => {
    const twice = await killed(await killed(await used()), 'run_c');
    rmSync(join(twice, 'cairn.stamp'));
    writeFileSync(join(twice, 'cairn.running'), '');
    expect(await runsIn(twice)).toEqual(['run_c', 'run_b', 'run_a']);
  });

  it('is refused beside an older copy of the database', async () => {
    const folder = await used();
    const backup = copyOf(folder);
    const crashed = await killed(folder);
    copyFileSync(fileOf(backup), fileOf(crashed));
    rmSync(fileOf(crashed, '-shm'), { force: true });
    await refused(crashed, 'store_mismatch');
    // The way out: the database as it was, without the log.
    for (const suffix of ['-wal', '-shm']) rmSync(fileOf(crashed, suffix), { force: true });
    expect(await runsIn(crashed)).toEqual(['run_a']);
  });

  it('is refused beside the database of another host', async () => {
    const crashed = await killed(await used());
    copyFileSync(fileOf(await used('run_x')), fileOf(crashed));
    rmSync(fileOf(crashed, '-shm'), { force: true });
    await refused(crashed, 'store_mismatch');
  });

  it('of another host is refused beside a database', async () => {
    const folder = await used();
    const other = await killed(await used('run_x'));
    for (const name of ['cairn.db-wal', 'cairn.running', 'cairn.stamp']) cpSync(join(other, name), join(folder, name));
    await refused(folder, 'store_mismatch');
  });

  it('is missed when the host was killed and the log is gone', async () => {
    const crashed = await killed(await used());
    for (const suffix of ['-wal', '-shm']) rmSync(fileOf(crashed, suffix), { force: true });
    await refused(crashed, 'store_mismatch');
    rmSync(join(crashed, 'cairn.running'));
    expect(await runsIn(crashed)).toEqual(['run_a']);
  });

  it('is not missed when the host was killed just after it merged the log to stop', async () => {
    const folder = await used();
    const store = await open(folder);
    const close = DatabaseSync.prototype.close;
    const copies: string[] = [];
    const spy = vi.spyOn(DatabaseSync.prototype, 'close').mockImplementation(function (this: DatabaseSync) {
      close.call(this);
      copies.push(copyOf(folder));
    });
    onTestFinished(() => spy.mockRestore());
    await store.close();
    spy.mockRestore();
    const [stopped] = copies;
    expect(existsSync(fileOf(present(stopped), '-wal'))).toBe(false);
    expect(existsSync(join(present(stopped), 'cairn.running'))).toBe(true);
    expect(await runsIn(present(stopped))).toEqual(['run_a']);
  });

  it('is not missed after a start that failed and merged it', async () => {
    const crashed = await killed(await used());
    const db = new DatabaseSync(fileOf(crashed));
    const version = db.prepare('PRAGMA user_version').get()?.user_version;
    db.exec('PRAGMA user_version = 999');
    const file = copyOf(crashed);
    db.close();
    await expect(open(file)).rejects.toMatchObject({ code: 'store_newer' });
    expect(existsSync(fileOf(file, '-wal'))).toBe(false);
    const mended = new DatabaseSync(fileOf(file));
    mended.exec(`PRAGMA user_version = ${version}`);
    mended.close();
    expect(await runsIn(file)).toEqual(['run_b', 'run_a']);
  });
});

describe('the permissions of a data folder', () => {
  const umask = process.umask();
  afterEach(() => void process.umask(umask));

  const modes = (folder: string) =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]));

  it('are for the user of the host alone, whatever the umask', async () => {
    process.umask(0);
    const folder = fresh();
    const store = await open(folder);
    await store.log.append(creation('run_a' as RunId));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = ['cairn.db', 'cairn.db-shm', 'cairn.db-wal', 'cairn.lock', 'cairn.running', 'cairn.stamp'];
    expect(Object.keys(modes(folder))).toEqual(expect.arrayContaining(files));
    expect(new Set(Object.values(modes(folder)))).toEqual(new Set([0o600]));
    await store.close();
  });

  it('are narrowed for files of an earlier version', async () => {
    const folder = await killed(await used());
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
    const store = await open(folder);
    expect(new Set(Object.values(modes(folder)))).toEqual(new Set([0o600]));
    await store.close();
  });

  it.each([0o750, 0o705, 0o710, 0o777])(
    'are refused with mode %o, by name and with the command to run',
    async (mode) => {
      const folder = await used();
      chmodSync(folder, mode);
      await expect(open(folder)).rejects.toMatchObject({
        code: 'data_folder_exposed',
        message: expect.stringContaining(`${folder} has mode 0${mode.toString(8)}`),
        hint: expect.stringContaining(`chmod 700 ${folder}`),
      });
      chmodSync(folder, 0o700);
      expect(await runsIn(folder)).toEqual(['run_a']);
    },
  );
});
