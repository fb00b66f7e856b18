/** `cairn checkpoint`: prints a signed statement of where the logs of runs stand, even while a host uses the folder. */
import { relative, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { type CheckpointedRun, checkpointLines } from '../log/signed-checkpoint/signed-checkpoint.ts';
import { openReadOnly, type ReadOnlyLog } from '../log/sqlite/folder/read-only.ts';
import { writeBundle } from './bundle-file.ts';
import { dataFolder } from './data-folder.ts';
import { exit } from './exit.ts';
import { folderKeys } from './folder-keys.ts';
import { keptRunNamed } from './kept-run-name.ts';
import { styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface CheckpointFlags {
  readonly data?: string;
  readonly config?: string;
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
  const folder = dataFolder(terminal, flags.data);
  const [key] = await folderKeys(terminal, folder, flags.config);
  const log = openReadOnly(folder);
  try {
    const runs = flags.all === true ? allRuns(log) : namedRuns(log, names, folder);
    const lines = checkpointLines({ at: terminal.now(), key, runs });
    if (flags.output === undefined) for (const line of lines) terminal.print(line);
    else {
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
      terminal.print(
        `${green('✓')} ${relative(terminal.cwd, file)}: ${count - 2 === 1 ? '1 run' : `${count - 2} runs`}`,
      );
    }
    return exit.ok;
  } finally {
    log.close();
  }
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
const namedRuns = (log: ReadOnlyLog, names: readonly string[], folder: string): readonly CheckpointedRun[] =>
  names.map((name) => {
    const run = log.run(keptRunNamed(log, name));
    if (run === null) throw noRun(name, folder);
    return run;
  });

const noRun = (name: string, folder: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no run ${JSON.stringify(name)} in ${folder}.`,
    hint: '"cairn runs" lists runs. --data selects another data folder.',
  });
