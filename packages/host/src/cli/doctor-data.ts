/** What the doctor sees of a data folder: who holds it, whether its database is whole, and how much room there is. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isCairnError } from '@cairn/protocol';
import { lockFolder } from '../log/sqlite/lock.ts';
import { openReadOnly } from '../log/sqlite/read-only.ts';
import { type Finding, looked } from './doctor-finding.ts';

const MIB = 1_048_576;

/** A host copies its write-ahead log into the database long before it is this large. */
const LARGE_WAL_BYTES = 512 * MIB;
const LITTLE_SPACE_BYTES = 1024 * MIB;
const NO_SPACE_BYTES = 64 * MIB;

export async function dataFindings(folder: string): Promise<readonly Finding[]> {
  if (!existsSync(folder)) {
    const text = `${folder} is not there yet; the first start makes it`;
    return [{ subject: 'data folder', state: 'doubtful', text }];
  }
  const held = isHeld(folder);
  return [
    await looked('data folder', () => writable(folder)),
    await looked('lock', () => lockFinding(folder, held)),
    await looked('database', () => databaseFinding(folder)),
    await looked('write-ahead log', () => walFinding(folder, held)),
    await looked('disk', () => diskFinding(folder)),
  ];
}

function writable(folder: string): Finding {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  const subject = 'data folder';
  const mode = statSync(folder).mode & 0o777;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return { subject, state: 'good', text: folder };
  const text = `${folder} has mode ${mode.toString(8).padStart(4, '0')}: other users of this machine may read what runs did`;
  return { subject, state: 'doubtful', text, hint: `If they should not: chmod 700 ${folder}` };
}

/** A lock that a living process holds; one whose holder died is free. */
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
  if (held) return { subject, state: 'good', text: 'a host runs on the folder' };
  if (!existsSync(join(folder, 'cairn.running'))) return { subject, state: 'good', text: 'free; no host runs' };
  const text = 'free, but the last host did not stop cleanly';
  return { subject, state: 'doubtful', text, hint: 'Nothing is lost. The next start checks the database first.' };
}

function databaseFinding(folder: string): Finding {
  const subject = 'database';
  if (!existsSync(join(folder, 'cairn.db'))) {
    return { subject, state: 'doubtful', text: 'there is none yet; the first start makes it' };
  }
  const log = openReadOnly(folder);
  try {
    const damage = log.damage();
    const { runs, events } = log.size();
    if (damage === null) return { subject, state: 'good', text: `undamaged; runs: ${runs}, events: ${events}` };
    const hint = 'Stop the host, keep a copy of the folder, and restore it from a backup.';
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
  const hint = held ? 'A reader may hold it open for long; look for one.' : 'The next start of a host shortens it.';
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
    hint: 'Free space: runs wait while there is none.',
  };
}

const mebibytes = (bytes: number): string =>
  bytes >= 1024 * MIB ? `${(bytes / MIB / 1024).toFixed(1)} GiB` : `${(bytes / MIB).toFixed(1)} MiB`;
