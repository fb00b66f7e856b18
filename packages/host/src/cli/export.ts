/** `cairn export`: one run as a bundle, out of the data folder, also while a host runs on it. */
import { relative, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { bundleLines } from '../log/bundle/bundle.ts';
import { openReadOnly } from '../log/sqlite/read-only.ts';
import { writeBundle } from './bundle-file.ts';
import { dataFolder } from './data-folder.ts';
import { exit } from './exit.ts';
import { jsonLine, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface ExportFlags {
  readonly data?: string;
  readonly output?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export async function exportRun(terminal: Terminal, runId: string, flags: ExportFlags): Promise<number> {
  const folder = dataFolder(terminal, flags.data);
  const log = openReadOnly(folder);
  try {
    // Only the id of a run that is there becomes part of a path, and those hold no slash.
    const run = log.run(runId);
    if (run === null) throw noRun(runId, folder);
    const definition = log.definition(run.definitionHash);
    if (definition === null) throw noDefinition(runId, run.definitionHash);
    const { contextId, originRunId, parentRunId, definitionHash, seq, hash } = run;
    const header = { runId, contextId, originRunId, parentRunId, definitionHash, seq, hash };
    // Ids may hold colons, which some file systems do not take.
    const file = resolve(terminal.cwd, flags.output ?? `${runId.replaceAll(':', '_')}.cairn.jsonl`);
    const lines = bundleLines({ run: header, definition, exportedAt: terminal.now(), rows: log.rows(run) });
    const { bytes } = writeBundle(file, lines, flags.force === true);
    if (flags.json === true) terminal.print(jsonLine({ runId, file, events: seq + 1, bytes, hash }));
    else {
      const style = styleOf(terminal.colours.out);
      const shown = relative(terminal.cwd, file);
      terminal.print(`${style.green('✓')} ${shown}: ${seq + 1} events, ${bytes} bytes`);
      terminal.tell(`It holds inputs, outputs and operator rows. Check it anywhere with: cairn verify ${shown}`);
    }
    return exit.ok;
  } finally {
    log.close();
  }
}

const noRun = (runId: string, folder: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no run ${JSON.stringify(runId)} in ${folder}.`,
    hint: 'cairn runs lists them; --data names another data folder.',
  });

const noDefinition = (runId: string, hash: string): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `The definition ${hash}, to which run ${runId} is pinned, is not in the data folder.`,
    hint: 'Restore the folder from a backup; cairn verify still checks the events of the run.',
  });
