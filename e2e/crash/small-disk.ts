/** Makes a host run out of space: fills a dedicated file system, or limits the size of its files. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostProcess } from './host-process.ts';

export interface SmallDisk {
  readonly name: string;
  /**
   * The host's error code. SQLite reports a full disk on ENOSPC only; past a file size limit it sees a failed write.
   */
  readonly reason: 'store_full' | 'store_failed';
  /** Sets up the disk at an existing folder. Returns the function that removes it. */
  prepare(folder: string): () => void;
  /** Makes all further writes fail. */
  fill(host: HostProcess): void;
  /** Makes space available again. */
  free(host: HostProcess): void;
}

const ballast = (host: HostProcess): string => join(host.settings.folder, '..', 'ballast');

const ownFileSystem: SmallDisk = {
  name: 'a full file system',
  reason: 'store_full',
  prepare(folder) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', folder], { stdio: 'pipe' });
    return () => execFileSync('umount', ['--lazy', folder]);
  },
  fill(host) {
    const fd = openSync(ballast(host), 'w');
    try {
      // Writes large blocks first, then single pages, until no page is left.
      for (const size of [1_048_576, 4_096]) while (fits(fd, size));
    } finally {
      closeSync(fd);
    }
  },
  free: (host) => rmSync(ballast(host)),
};

function fits(fd: number, size: number): boolean {
  try {
    return writeSync(fd, Buffer.alloc(size)) === size;
  } catch {
    return false;
  }
}

const limitFiles = (host: HostProcess, soft: string): void => {
  execFileSync('prlimit', ['--pid', String(host.pid), `--fsize=${soft}:unlimited`], { stdio: 'pipe' });
};

const fileLimit: SmallDisk = {
  name: 'files that may not grow',
  reason: 'store_failed',
  prepare: () => () => undefined,
  fill: (host) => limitFiles(host, String(statSync(join(host.settings.folder, 'cairn.db-wal')).size)),
  free: (host) => limitFiles(host, 'unlimited'),
};

/** The variants that this machine and this user support. */
export function smallDisks(): readonly SmallDisk[] {
  return [
    ...(works(mountTrial) ? [ownFileSystem] : []),
    ...(works(() => execFileSync('prlimit', ['--version'], { stdio: 'pipe' })) ? [fileLimit] : []),
  ];
}

function mountTrial(): void {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-mount-'));
  try {
    ownFileSystem.prepare(folder)();
  } finally {
    rmdirSync(folder);
  }
}

function works(trial: () => void): boolean {
  try {
    trial();
    return true;
  } catch {
    return false;
  }
}
