/** Work that several processes may start at once, such as tests that need the same built files. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_AGAIN_MS = 50;

/** Runs the work while no other process holds the lock, a folder of this name. One whose process is gone is free. */
export async function onlyOne(lock: string, work: () => Promise<void>): Promise<void> {
  mkdirSync(dirname(lock), { recursive: true });
  while (!take(lock)) await pause(LOOK_AGAIN_MS);
  try {
    await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, 'pid'), String(process.pid));
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    if (!isHeld(lock)) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

function isHeld(lock: string): boolean {
  try {
    const pid = readFileSync(join(lock, 'pid'), 'utf8');
    // Its holder has not written yet who it is.
    if (pid === '') return true;
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return ['ENOENT', 'EPERM'].includes(codeOf(error));
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
