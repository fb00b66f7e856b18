/**
 * Gives the temporary files of tests a folder of their own, in memory where the machine has enough of it. A flush then
 * takes no time, and what a killed process wrote is still there. Whatever tests leave behind goes with the folder.
 */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';

/** Far more than all tests together write. */
const ENOUGH_BYTES = 6 * 1024 ** 3;

function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

export function setup(): () => void {
  const folder = mkdtempSync(join(parentFolder(), 'cairn-tests-'));
  // A Postgres that root starts runs as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
