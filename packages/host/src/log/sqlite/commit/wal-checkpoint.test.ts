/** A checkpoint holds appends only while it ends, and one that fails is reported and tried again. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folders } from '../folder/folders.kit.ts';
import { openDatabase } from '../folder/open.ts';
import { Checkpointer } from './wal-checkpoint.ts';

const { fresh } = folders();

/** A database with a WAL past the limit, and a checkpointer for the file it is told. */
function grown(fileFor: (folder: string) => string) {
  const folder = fresh();
  mkdirSync(folder);
  const db = openDatabase(join(folder, 'cairn.db'));
  db.exec('CREATE TABLE filler (body BLOB)');
  db.exec('INSERT INTO filler VALUES (zeroblob(68000000))');
  const steps: string[] = [];
  let resumed = Promise.withResolvers<void>();
  const writer = {
    diskIsBusy: () => undefined,
    hold: () => void steps.push('hold'),
    resume: () => {
      steps.push('resume');
      resumed.resolve();
    },
  };
  const onFault = (error: unknown): void => void steps.push(String((error as { code: string }).code));
  const checkpointer = new Checkpointer(db, { file: fileFor(folder), writer, onFault });
  const frames = (): number => Number(db.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.checkpointed);
  /** Reports enough writing for the WAL to be measured, and waits for what follows. */
  const write = async (): Promise<void> => {
    resumed = Promise.withResolvers<void>();
    checkpointer.wrote(1_000, 0);
    await resumed.promise;
    for (let turn = 0; turn < 20; turn += 1) await null; // the run that resumed comes to its end
  };
  return { db, checkpointer, steps, frames, write };
}

describe('a checkpoint', () => {
  it('copies the WAL on its thread, and holds appends only for the end of it', async () => {
    const { db, checkpointer, steps, frames, write } = grown((folder) => join(folder, 'cairn.db'));
    expect(frames()).toBe(0);
    await write();
    expect(steps).toEqual(['hold', 'resume']);
    expect(frames()).toBeGreaterThan(16_384);
    await checkpointer.close();
    db.close();
  });

  it('holds appends at once when the WAL grows on while it is copied', async () => {
    const { db, checkpointer, steps } = grown((folder) => join(folder, 'cairn.db'));
    checkpointer.wrote(1_000, 0);
    db.exec('INSERT INTO filler VALUES (zeroblob(20000000))');
    checkpointer.wrote(1_000, 0);
    expect(steps).toEqual([]);
    db.exec('INSERT INTO filler VALUES (zeroblob(20000000))');
    checkpointer.wrote(1_000, 0);
    expect(steps).toEqual(['hold']);
    await checkpointer.close();
    expect(steps.at(-1)).toBe('resume');
    db.close();
  });

  it('copies again what was written meanwhile, and holds appends only once little is left', async () => {
    const folder = fresh();
    mkdirSync(folder);
    const file = join(folder, 'cairn.db');
    const db = openDatabase(file);
    const steps: string[] = [];
    const left = [20_000, 5_000, 1_000, 100];
    const measured = () => {
      steps.push(`left ${left[0]}`);
      return { log: left.shift(), checkpointed: 0 };
    };
    const slow = new Proxy(db, { get: () => () => ({ get: measured }) });
    const writer = {
      diskIsBusy: (isBusy: boolean) => void steps.push(`busy ${isBusy}`),
      hold: () => void steps.push('hold'),
      resume: () => void steps.push('resume'),
    };
    const checkpointer = new Checkpointer(slow, { file, writer, onFault: () => undefined });
    checkpointer.wrote(1_000, 0);
    await checkpointer.close();
    const copies = ['left 5000', 'left 1000', 'left 100'];
    expect(steps).toEqual(['left 20000', 'busy true', ...copies, 'hold', 'resume', 'busy false']);
    db.close();
  });

  it('that fails lets appends go on, is reported, and is tried again', async () => {
    const { db, checkpointer, steps, write } = grown((folder) => join(folder, 'nowhere', 'cairn.db'));
    await write();
    expect(steps).toEqual(['store_failed', 'resume']);
    await write();
    expect(steps.slice(2)).toEqual(['store_failed', 'resume']);
    await checkpointer.close();
    db.close();
  });

  it('does not happen for a little writing', () => {
    const { db, checkpointer, steps } = grown((folder) => join(folder, 'cairn.db'));
    checkpointer.wrote(1, 100);
    expect(steps).toEqual([]);
    db.close();
  });
});
