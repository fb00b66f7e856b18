/** `cairn checkpoint`: prints a signed statement of where the logs of runs stand, even while a host uses its store. */
import { relative, resolve } from 'node:path';
import { type CheckpointedRun, checkpointLines } from '../log/signed-checkpoint/signed-checkpoint.ts';
import type { ReadOnlyLog } from '../log/sqlite/folder/read-only.ts';
import { writeBundle } from './bundle-file.ts';
import { exit } from './exit.ts';
import { folderKeys } from './folder-keys.ts';
import { keptRunNamed, noKeptRun } from './kept-run-name.ts';
import { type StoreFlags, withLog } from './offline-store.ts';
import { styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface CheckpointFlags extends StoreFlags {
  readonly all?: boolean;
  readonly output?: string;
  readonly force?: boolean;
}

export async function checkpoint(
  terminal: Terminal,
  names: readonly string[],
  flags: CheckpointFlags,
): Promise<number> {
  if ((flags.all === true) === names.length > 0)
    throw usageError(
      'A checkpoint needs either runs or --all.',
      'For example: cairn checkpoint --all > checkpoint.jsonl',
    );
  return withLog(terminal, { flags, names: flags.all === true ? null : names }, async ({ log, place, folder }) => {
    const [key] = await folderKeys(terminal, folder, flags.config);
    const runs = flags.all === true ? allRuns(log) : namedRuns(log, names, place);
    print(terminal, checkpointLines({ at: terminal.now(), key, runs }), flags);
    return exit.ok;
  });
}

function print(terminal: Terminal, lines: Iterable<string>, flags: CheckpointFlags): void {
  if (flags.output === undefined) {
    for (const line of lines) terminal.print(line);
    return;
  }
  let count = 0;
  const counted = function* () {
    for (const line of lines) {
      count += 1;
      yield line;
    }
  };
  const file = resolve(terminal.cwd, flags.output);
  writeBundle(file, counted(), flags.force === true);
  const { green } = styleOf(terminal.colours.out);
  terminal.print(`${green('✓')} ${relative(terminal.cwd, file)}: ${count - 2 === 1 ? '1 run' : `${count - 2} runs`}`);
}

function* allRuns(log: ReadOnlyLog): Generator<CheckpointedRun> {
  const at = function* (runId: string): Generator<CheckpointedRun> {
    const run = log.run(runId);
    if (run !== null) yield run;
  };
  for (const { runId } of log.runs()) yield* at(runId);
  // The hashes of purged runs are kept, and a checkpoint shows that they are.
  for (const runId of log.purgedRuns()) yield* at(runId);
}

/** All of them are found before the first line is written. */
const namedRuns = (log: ReadOnlyLog, names: readonly string[], place: string): readonly CheckpointedRun[] =>
  names.map((name) => {
    const run = log.run(keptRunNamed(log, name));
    if (run === null) throw noKeptRun(name, place);
    return run;
  });
