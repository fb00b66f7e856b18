/** Counts the cache flushes of the disk under a folder, so that skipped syncs cannot produce a fast number. */
import { existsSync, readFileSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TerminalError } from '@cairn/protocol';

export interface FlushCounter {
  /** Name of the block device, e.g. `vda`. */
  readonly device: string;
  /** Flush requests the device has completed since it was attached, including those of other programs. */
  read(): number;
}

const IN_MEMORY_FILE_SYSTEMS: Readonly<Record<number, string>> = { 16914836: 'tmpfs', 2240043254: 'ramfs' };
/** Position of "flush requests completed" in a line of /proc/diskstats (Linux 5.5 and later). */
const FLUSH_COLUMN = 18;

/** Rejects an in-memory folder and a device without a flush counter: a durability figure would prove nothing there. */
export function openFlushCounter(folder: string): FlushCounter {
  const memory = IN_MEMORY_FILE_SYSTEMS[statfsSync(folder).type];
  if (memory !== undefined) {
    throw new TerminalError('config_invalid', {
      message: `The benchmark folder ${folder} is on ${memory}, which has nothing to flush.`,
      hint: 'Run the benchmarks from a checkout on a disk.',
    });
  }
  const number = diskOf(statSync(folder).dev);
  const device = number === null ? undefined : diskLine(number)?.[2];
  if (number === null || device === undefined) {
    throw new TerminalError('config_invalid', {
      message: `/proc/diskstats has no flush counter for the device under ${folder}.`,
      hint: 'Run the benchmarks on Linux 5.5 or later, with the checkout directly on a block device.',
    });
  }
  return { device, read: () => Number(diskLine(number)?.[FLUSH_COLUMN]) };
}

/** `major:minor` of the whole disk. The kernel counts flushes per disk, not per partition. */
function diskOf(dev: number): string | null {
  const major = (dev >> 8) & 0xfff;
  const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
  const link = `/sys/dev/block/${major}:${minor}`;
  if (!existsSync(link)) return null;
  const entry = realpathSync(link);
  const disk = existsSync(join(entry, 'partition')) ? dirname(entry) : entry;
  return readFileSync(join(disk, 'dev'), 'utf8').trim();
}

function diskLine(number: string): string[] | undefined {
  for (const line of readFileSync('/proc/diskstats', 'utf8').split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (`${fields[0]}:${fields[1]}` === number && fields.length > FLUSH_COLUMN) return fields;
  }
  return undefined;
}
