/** A disk that failed once is not believed until another process has looked at it; a folder may lead to another disk. */

import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { expect, test, vi } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { creation, row, runA, runB } from '../ports/samples.kit.ts';
import { folders } from './folder/folders.kit.ts';
import { openSqliteStore } from './folder/open.ts';

const disk = vi.hoisted(() => ({ fails: false, flushed: [] as string[] }));

vi.mock('./commit/wal-flush.ts', async (original) => {
  const { walFlush } = await original<typeof import('./commit/wal-flush.ts')>();
  return {
    walFlush: (file: string): ReturnType<typeof walFlush> => {
      const wal = walFlush(file);
      return {
        ...wal,
        flush: (done) => {
          disk.flushed.push(file);
          if (disk.fails) setImmediate(() => done(new Error('EIO: i/o error, fdatasync')));
          else wal.flush(done);
        },
      };
    },
  };
});

const { fresh } = folders();
const open = (folder: string) => openSqliteStore({ folder, onFault: () => {} });

/** As many rows as are flushed by another thread. */
const many = (runId: RunId) => creation(runId, { rows: [row('run.started'), ...Array(199).fill(row('a'))] });

test('a store whose flush failed is opened the next time as after a crash, also when it was closed in order', async () => {
  const folder = fresh();
  const first = await open(folder);
  await first.log.append(creation(runB));
  // Somebody who looks into the folder keeps SQLite from copying the WAL when the store is closed.
  using other = new DatabaseSync(join(folder, 'cairn.db'), { readOnly: true });
  other.exec('BEGIN');
  other.prepare('SELECT count(*) FROM events').get();
  disk.fails = true;
  await expect(first.log.append(many(runA))).rejects.toMatchObject({ code: 'store_failed' });
  disk.fails = false;
  await first.close();
  expect(existsSync(join(folder, 'cairn.running'))).toBe(true);
  other.exec('ROLLBACK');
  const second = await open(folder);
  // Refused, and written: whether it is there is for the file to say. What is shown is copied from where it was read.
  expect(await rowsOf(second, runA)).toHaveLength(200);
  const { log, checkpointed } = present(other.prepare('PRAGMA wal_checkpoint(NOOP)').get());
  expect(log).toBe(checkpointed);
  await second.close();
  expect(existsSync(join(folder, 'cairn.running'))).toBe(false);
});

test('what is flushed is the WAL beside the database itself, also when the folder only leads to it', async () => {
  const [folder, elsewhere] = [fresh(), fresh()];
  await (await open(elsewhere)).close();
  mkdirSync(folder, { mode: 0o700 });
  symlinkSync(join(elsewhere, 'cairn.db'), join(folder, 'cairn.db'));
  // Left from the time before it was moved.
  writeFileSync(join(folder, 'cairn.db-wal'), '');
  disk.flushed.length = 0;
  const store = await open(folder);
  await store.log.append(many(runA));
  expect(disk.flushed).toEqual([join(elsewhere, 'cairn.db-wal')]);
  expect(store.walBytes()).toBeGreaterThan(0);
  await store.close();
});
