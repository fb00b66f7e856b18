/** Checks a data folder: its permissions, its lock, its database and the free space. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isCairnError } from '@cairn/protocol';
import { refuseDamage } from '../log/sqlite/folder/damage.ts';
import { lockFolder } from '../log/sqlite/folder/lock.ts';
import { openReadOnly, type ReadOnlyLog } from '../log/sqlite/folder/read-only.ts';
import { check, type Finding } from './doctor-finding.ts';

const MIB = 1_048_576;

/** A host checkpoints its write-ahead log long before it is this large. */
const LARGE_WAL_BYTES = 512 * MIB;
const LITTLE_SPACE_BYTES = 1024 * MIB;
const NO_SPACE_BYTES = 64 * MIB;

const LISTED_RUNS = 20;

export async function dataFindings(folder: string): Promise<readonly Finding[]> {
  if (!existsSync(folder)) {
    const text = `${folder} does not exist yet; the first start creates it`;
    return [{ subject: 'data folder', state: 'doubtful', text }];
  }
  const held = isHeld(folder);
  return [
    await check('data folder', () => writable(folder)),
    await check('lock', () => lockFinding(folder, held)),
    await check('database', () => databaseFinding(folder, held)),
    await check('write-ahead log', () => walFinding(folder, held)),
    await check('disk', () => diskFinding(folder)),
    ...quarantineFindings(folder),
  ];
}

/** Runs that the host does not step any more because the process died in them twice. */
function quarantineFindings(folder: string): readonly Finding[] {
  const runIds = readable(folder, (log) => log.failedWith('run_quarantined', LISTED_RUNS)) ?? [];
  if (runIds.length === 0) return [];
  const text = `the host died while it decided ${runIds.join(', ')}${runIds.length < LISTED_RUNS ? '' : ' and perhaps more'}`;
  const hint = 'Their events show what came last. Change the workflow or the inputs before you start them again.';
  return [{ subject: 'quarantine', state: 'doubtful', text, hint }];
}

/** A database that cannot be read is a finding of its own. */
function readable<Result>(folder: string, look: (log: ReadOnlyLog) => Result): Result | null {
  try {
    const log = openReadOnly(folder);
    try {
      return look(log);
    } finally {
      log.close();
    }
  } catch (error) {
    if (isCairnError(error)) return null;
    throw error;
  }
}

function writable(folder: string): Finding {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  const subject = 'data folder';
  const mode = statSync(folder).mode & 0o777;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return { subject, state: 'good', text: folder };
  const text = `${folder} has mode ${mode.toString(8).padStart(4, '0')}: other users of this machine can read the data of runs, so no host starts`;
  return { subject, state: 'bad', text, hint: `To prevent that: chmod 700 ${folder}` };
}

/** Whether a live process holds the lock. The lock of a dead process is free. */
function isHeld(folder: string): boolean {
  if (!existsSync(join(folder, 'cairn.lock'))) return false;
  try {
    lockFolder(folder).release();
    return false;
  } catch (error) {
    if (isCairnError(error, 'store_locked')) return true;
    throw error;
  }
}

function lockFinding(folder: string, held: boolean): Finding {
  const subject = 'lock';
  if (held) return { subject, state: 'good', text: 'a host uses the folder' };
  if (!existsSync(join(folder, 'cairn.running'))) return { subject, state: 'good', text: 'free; no host runs' };
  const text = 'free, but the last host did not stop cleanly';
  return { subject, state: 'doubtful', text, hint: 'No data is lost. The next start checks the database first.' };
}

function databaseFinding(folder: string, held: boolean): Finding {
  const subject = 'database';
  if (!held) refuseDamage(folder);
  if (!existsSync(join(folder, 'cairn.db'))) {
    return { subject, state: 'doubtful', text: 'does not exist yet; the first start creates it' };
  }
  const log = openReadOnly(folder);
  try {
    const damage = log.damage();
    const { runs, events } = log.size();
    if (damage === null) return { subject, state: 'good', text: `undamaged; runs: ${runs}, events: ${events}` };
    const hint = 'Stop the host, copy the folder, and restore a backup.';
    return { subject, state: 'bad', text: `damaged: ${damage}`, hint };
  } finally {
    log.close();
  }
}

function walFinding(folder: string, held: boolean): Finding {
  const subject = 'write-ahead log';
  const file = join(folder, 'cairn.db-wal');
  const bytes = existsSync(file) ? statSync(file).size : 0;
  if (bytes < LARGE_WAL_BYTES) return { subject, state: 'good', text: mebibytes(bytes) };
  const hint = held ? 'Look for a reader that keeps it open.' : 'The next start of a host truncates it.';
  return { subject, state: 'doubtful', text: `${mebibytes(bytes)}, which is large`, hint };
}

function diskFinding(folder: string): Finding {
  const subject = 'disk';
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${mebibytes(free)} free`;
  if (free >= LITTLE_SPACE_BYTES) return { subject, state: 'good', text };
  return {
    subject,
    state: free < NO_SPACE_BYTES ? 'bad' : 'doubtful',
    text,
    hint: 'Free some space. Runs wait while the disk is full.',
  };
}

const mebibytes = (bytes: number): string =>
  bytes >= 1024 * MIB ? `${(bytes / MIB / 1024).toFixed(1)} GiB` : `${(bytes / MIB).toFixed(1)} MiB`;
