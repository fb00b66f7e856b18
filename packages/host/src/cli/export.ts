/** `cairn export`: writes a run from the data folder to a bundle, even while a host uses the folder. */
import { relative, resolve } from 'node:path';
import { TerminalError } from '@cairn/protocol';
import { bundleLines } from '../log/bundle/bundle.ts';
import { openReadOnly } from '../log/sqlite/folder/read-only.ts';
import { writeBundle } from './bundle-file.ts';
import { dataFolder } from './data-folder.ts';
import { exit } from './exit.ts';
import { keptRunNamed } from './kept-run-name.ts';
import { jsonLine, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface ExportFlags {
  readonly data?: string;
  readonly output?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export async function exportRun(terminal: Terminal, name: string, flags: ExportFlags): Promise<number> {
  const folder = dataFolder(terminal, flags.data);
  const log = openReadOnly(folder);
  try {
    // Only the id of an existing run becomes part of a path, and such ids contain no slash.
    const run = log.run(keptRunNamed(log, name));
    if (run === null) throw noRun(name, folder);
    const { runId } = run;
    const definition = log.definition(run.definitionHash);
    if (definition === null) throw noDefinition(runId, run.definitionHash);
    const { contextId, originRunId, parentRunId, definitionHash, seq, hash } = run;
    const header = { runId, contextId, originRunId, parentRunId, definitionHash, seq, hash };
    // Ids may contain colons, which some file systems do not allow.
    const file = resolve(terminal.cwd, flags.output ?? `${runId.replaceAll(':', '_')}.cairn.jsonl`);
    const lines = bundleLines({ run: header, definition, exportedAt: terminal.now(), rows: log.rows(run) });
    const { bytes } = writeBundle(file, lines, flags.force === true);
    if (flags.json === true) terminal.print(jsonLine({ runId, file, events: seq + 1, bytes, hash }));
    else {
      const style = styleOf(terminal.colours.out);
      const shown = relative(terminal.cwd, file);
      terminal.print(`${style.green('✓')} ${shown}: ${seq + 1} events, ${bytes} bytes`);
      terminal.tell(`It contains inputs, outputs and operator rows. Check it anywhere with: cairn verify ${shown}`);
    }
    return exit.ok;
  } finally {
    log.close();
  }
}

const noRun = (runId: string, folder: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no run ${JSON.stringify(runId)} in ${folder}.`,
    hint: '"cairn runs" lists runs. --data selects another data folder.',
  });

const noDefinition = (runId: string, hash: string): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `The data folder does not contain the definition ${hash} of run ${runId}.`,
    hint: 'Restore the folder from a backup. "cairn verify" still checks the events of the run.',
  });
