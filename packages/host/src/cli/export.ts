/** `cairn export`: writes a run and the runs below it to a bundle, even while a host uses its store. */
import { relative } from 'node:path';
import { type RunId, TerminalError } from '@cairn/protocol';
import { artifactChanges, blobsOf } from '../log/artifact-changes.ts';
import { type BundledRow, bundleLines } from '../log/bundle/bundle-lines.ts';
import { pinnedDefinitions } from '../log/pinned-definitions.ts';
import { isTombstone, type Row } from '../log/ports/rows.ts';
import { runPurged } from '../log/ports/run-purged.ts';
import type { KeptRun, ReadOnlyLog } from '../log/sqlite/folder/read-only.ts';
import { writeBundle } from './bundle-file.ts';
import { earlierChildren } from './earlier-children.ts';
import { exit } from './exit.ts';
import { keptRunNamed, noKeptRun } from './kept-run-name.ts';
import { type StoreFlags, withLog } from './offline-store.ts';
import { outputFile } from './output-file.ts';
import { jsonLine, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface ExportFlags extends StoreFlags {
  readonly output?: string;
  readonly force?: boolean;
  /** False leaves out the runs below. */
  readonly children?: boolean;
  readonly json?: boolean;
}

export async function exportRun(terminal: Terminal, name: string, flags: ExportFlags): Promise<number> {
  return withLog(terminal, { flags, names: [name] }, ({ log, place }) => {
    // Only the id of an existing run becomes part of a path, and such ids contain no slash.
    const top = log.run(keptRunNamed(log, name));
    if (top === null) throw noKeptRun(name, place);
    if (top.purgedAt !== null) throw runPurged({ runId: top.runId, purgedAt: top.purgedAt });
    const { runId, hash } = top;
    const tree = flags.children === false ? [top] : log.tree(top);
    const earlier = flags.children === false ? { runs: [], leftOut: 0 } : earlierChildren(log, tree);
    const runs = [...tree, ...earlier.runs];
    // Ids may contain colons, which some file systems do not allow.
    const file = outputFile(terminal, flags.output ?? `${runId.replaceAll(':', '_')}.cairn.jsonl`);
    const { bytes } = writeBundle(file, linesOfRuns(log, runId, runs), flags.force === true);
    const events = runs.reduce((sum, { seq }) => sum + seq + 1, 0);
    if (flags.json === true) terminal.print(jsonLine({ runId, file, runs: runs.length, events, bytes, hash }));
    else {
      const style = styleOf(terminal.colours.out);
      const shown = relative(terminal.cwd, file);
      const which = runs.length === 1 ? '' : `${runs.length} runs, `;
      terminal.print(`${style.green('✓')} ${shown}: ${which}${events} events, ${bytes} bytes`);
      const purged = purgedRows(log, runs);
      if (purged > 0)
        terminal.tell(
          `The content of ${purged} events was purged with the run that they are shared with. Their hashes remain.`,
        );
      if (earlier.leftOut > 0)
        terminal.tell(
          `It lacks ${earlier.leftOut} child runs that had ended before the run was cut off its source. Export them by their ids.`,
        );
      terminal.tell(`It contains inputs, outputs and operator rows. Check it anywhere with: cairn verify ${shown}`);
    }
    return exit.ok;
  });
}

/** The bundle of a run and those below it. */
export const linesOfRuns = (log: ReadOnlyLog, runId: RunId, runs: readonly KeptRun[]): Iterable<string> =>
  bundleLines({
    runId,
    definitions: definitionsOf(log, runs),
    blobs: bundledBlobs(log, runs),
    runs: runs.map((run) => ({ run: headerOf(run), rows: withoutPurged(log.rows(run)) })),
  });

/** A tombstone has hashes, but no content. */
function* withoutPurged(rows: Iterable<Row>): Iterable<BundledRow> {
  for (const row of rows) yield isTombstone(row) ? { ...row, payload: null } : row;
}

/** Only a fork can lack content: that of a run that was purged by force. */
function purgedRows(log: ReadOnlyLog, runs: readonly KeptRun[]): number {
  let count = 0;
  for (const run of runs) if (run.fork !== null) for (const row of log.rows(run)) if (isTombstone(row)) count += 1;
  return count;
}

/** Names every field, so that their order never depends on the store. */
const headerOf = (run: KeptRun) => ({
  runId: run.runId,
  contextId: run.contextId,
  originRunId: run.originRunId,
  parentRunId: run.parentRunId,
  definitionHash: run.definitionHash,
  fork: run.fork,
  seq: run.seq,
  hash: run.hash,
});

/** Every definition that a run is pinned to, sorted by hash. */
function* definitionsOf(log: ReadOnlyLog, runs: readonly KeptRun[]): Iterable<{ hash: string; body: string }> {
  const users = new Map<string, string>();
  for (const run of runs) {
    users.set(run.definitionHash, run.runId);
    for (const { payload } of log.rows(run)) {
      if (payload === '') break;
      for (const hash of pinnedDefinitions(JSON.parse(payload)).hashes) users.set(hash, run.runId);
      break;
    }
  }
  for (const [hash, runId] of [...users].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const body = log.definition(hash);
    if (body === null) throw noDefinition(runId, hash);
    yield { hash, body };
  }
}

/** Every blob that an event names, sorted by hash, read one at a time. */
function* bundledBlobs(log: ReadOnlyLog, runs: readonly KeptRun[]): Iterable<{ sha256: string; data: string }> {
  const users = new Map<string, KeptRun>();
  for (const run of runs) {
    for (const row of log.rows(run)) {
      if (isTombstone(row)) continue;
      for (const sha256 of blobsOf(artifactChanges([row]))) users.set(sha256, run);
    }
  }
  for (const [sha256, run] of [...users].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const bytes = log.blob(run.tenant, sha256);
    if (bytes === null) throw noBlob(run.runId, sha256);
    yield { sha256, data: Buffer.from(bytes).toString('base64') };
  }
}

const noBlob = (runId: string, sha256: string): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `The data folder does not contain the blob ${sha256} of run ${runId}.`,
    hint: 'Restore the folder from a backup. "cairn verify" lists what is missing.',
  });

const noDefinition = (runId: string, hash: string): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `The data folder does not contain the definition ${hash} of run ${runId}.`,
    hint: 'Restore the folder from a backup. "cairn verify" still checks the events of the run.',
  });
