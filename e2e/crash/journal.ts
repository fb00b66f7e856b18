/** The external record of the steps: each entry into a step's function is on disk before the step has any effect. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/** One entry into a step's function. */
export interface Entry {
  readonly runId: string;
  readonly nodeId: string;
  readonly callId: string;
  readonly attempt: number;
  readonly safety: string;
}

export interface Journal {
  enter(entry: Entry): void;
  close(): void;
}

/** `enter` syncs before it returns, so that no crash can hide an effect that happened. */
export function openJournal(file: string): Journal {
  const fd = openSync(file, 'a');
  return {
    enter(entry) {
      writeSync(fd, `${JSON.stringify(entry)}\n`);
      fsyncSync(fd);
    },
    close: () => closeSync(fd),
  };
}

export function readJournal(file: string): readonly Entry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Entry => JSON.parse(line));
}
