/** `cairn replay`: decides recorded runs again with this version, without a host. Ends with 1 at the first divergence. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isCairnError, isJsonObject, type Json, type JsonObject, TerminalError } from '@cairn/protocol';
import { type KeptRow, type RunRecording, redecideRecord } from '../agents/recorded/redecide-record.ts';
import { differingFields } from '../engine/replay/differing-fields.ts';
import type { Divergence } from '../engine/replay/recorded-row.ts';
import { isTombstone } from '../log/ports/rows.ts';
import type { KeptRun, ReadOnlyLog } from '../log/sqlite/folder/read-only.ts';
import { withBundle } from './bundle-file.ts';
import { exit } from './exit.ts';
import { keptRunNamed } from './kept-run-name.ts';
import { type StoreFlags, withLog } from './offline-store.ts';
import { lookOf } from './render/status.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface ReplayFlags extends StoreFlags {
  readonly json?: boolean;
}

interface Verdict {
  readonly ok: boolean;
  readonly runId: string;
  /** The bundle; missing for a run of a data folder. */
  readonly file?: string;
  /** Events that agree with the record. */
  readonly events: number;
  /** Why it could not go on; null if the record agrees. */
  readonly problem: string | null;
  readonly divergence: JsonObject | null;
  /** Where a replay left its record; the rest is not compared. */
  readonly leftAt: number | null;
}

/**
 * An existing file is a bundle, an existing folder is a data folder or has bundles, any other name is a run. Without a
 * name: all runs.
 */
export async function replay(terminal: Terminal, names: readonly string[], flags: ReplayFlags): Promise<number> {
  const progress = new Progress(terminal);
  const judge: Named['judge'] = async (runs, file) => {
    for (const run of runs) {
      const { ok, runId, ...found } = await verdictOn(run, progress);
      const verdict: Verdict = { ok, runId, ...(file === undefined ? {} : { file }), ...found };
      if (flags.json === true) terminal.print(jsonLine(verdict));
      else print(terminal, verdict);
      if (!verdict.ok) return false;
    }
    return true;
  };
  const given = names.flatMap((name) => bundlesIn(terminal, name) ?? [name]);
  for (const name of given.length === 0 ? [null] : given) {
    if (!(await judgeNamed(terminal, { name, flags, judge }))) return exit.failed;
  }
  return exit.ok;
}

interface Named {
  readonly name: string | null;
  readonly flags: ReplayFlags;
  /** Returns false at the first run that does not agree. */
  readonly judge: (runs: Iterable<RunRecording>, file?: string) => Promise<boolean>;
}

async function judgeNamed(terminal: Terminal, { name, flags, judge }: Named): Promise<boolean> {
  const path = resolve(terminal.cwd, name ?? '');
  if (name !== null && statSync(path, { throwIfNoEntry: false })?.isDirectory() === false) {
    return judgeBundle(path, name, judge);
  }
  const isFolder = name !== null && existsSync(join(path, 'cairn.db'));
  const store = isFolder ? { data: path } : flags;
  const names = name === null || isFolder ? null : [name];
  return withLog(terminal, { flags: store, names }, async ({ log, place }) => {
    if (name === null || isFolder) return judge(allRuns(log));
    const run = log.run(keptRunNamed(log, name));
    if (run === null) throw noRun(name, place);
    return judge(log.tree(run).map((one) => recordingOf(log, one)));
  });
}

/** One of many bundles may be damaged, so that the error names the file. */
async function judgeBundle(path: string, name: string, judge: Named['judge']): Promise<boolean> {
  try {
    return await withBundle(path, ({ runs, definitions }) =>
      judge(
        {
          *[Symbol.iterator]() {
            for (const { run, rows } of runs)
              yield { ...run, rows, definition: (hash: string) => definitions.get(hash) ?? null };
          },
        },
        name,
      ),
    );
  } catch (error) {
    if (!isCairnError(error, 'bundle_invalid')) throw error;
    const { message, hint = 'Copy the file again, or export the run again.', details = {} } = error;
    throw new TerminalError('bundle_invalid', { message: `${name}: ${message}`, hint, details, cause: error });
  }
}

/** The bundles of a folder in the order of their names; null for any other name, and for a data folder. */
function bundlesIn(terminal: Terminal, name: string): readonly string[] | null {
  const path = resolve(terminal.cwd, name);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder || existsSync(join(path, 'cairn.db'))) return null;
  const bundles = readdirSync(path).filter((file) => file.endsWith('.jsonl'));
  if (bundles.length === 0) throw nothingIn(name);
  return bundles.sort().map((file) => join(name, file));
}

const nothingIn = (name: string): TerminalError =>
  new TerminalError('not_found', {
    message: `The folder ${name} has neither bundles (*.jsonl) nor a cairn.db.`,
    hint: 'Pass a folder of bundles, a data folder, the path of a bundle, or a run id.',
  });

/** Purged runs are left out, and forks that lost their first events with one: nothing of them is left to decide. */
function* allRuns(log: ReadOnlyLog): Generator<RunRecording> {
  for (const { runId } of log.runs()) {
    const run = log.run(runId);
    if (run !== null && run.purgedAt === null && !hasLostRows(log, run)) yield recordingOf(log, run);
  }
}

/** A purge takes the first rows before the others. */
function hasLostRows(log: ReadOnlyLog, run: KeptRun): boolean {
  if (run.fork === null) return false;
  for (const row of log.rows(run)) return isTombstone(row);
  return false;
}

const recordingOf = (log: ReadOnlyLog, run: KeptRun): RunRecording => ({
  runId: run.runId,
  originRunId: run.originRunId,
  definitionHash: run.definitionHash,
  fork: run.fork,
  rows: keptRows(log, run),
  definition: (hash) => log.definition(hash),
});

function* keptRows(log: ReadOnlyLog, run: KeptRun): Generator<KeptRow> {
  for (const row of log.rows(run)) yield isTombstone(row) ? { ...row, payload: null } : row;
}

const noRun = (name: string, place: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no file ${name}, and no run with that id in ${place}.`,
    hint: 'Pass a run id, the path of a bundle or of a data folder. --data and --store select another store.',
  });

/** Milliseconds between two lines about the progress. */
const PROGRESS_MS = 2_000;

/** Tells a person who waits how far the command is. A record of 100,000 events takes about half a second. */
class Progress {
  readonly #terminal: Terminal;
  #toldAt: number;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#toldAt = terminal.now();
  }

  at(runId: string, events: number): void {
    const now = this.#terminal.now();
    if (!this.#terminal.isInteractive || now - this.#toldAt < PROGRESS_MS) return;
    this.#toldAt = now;
    this.#terminal.tell(`  ${safe(runId)}: ${events} events so far`);
  }
}

async function verdictOn(recording: RunRecording, progress: Progress): Promise<Verdict> {
  const { runId } = recording;
  const { divergence, ...verdict } = await redecideRecord(recording, {
    sha256: (text, encoding) => hash('sha256', text, encoding),
    progress: (count) => progress.at(runId, count),
  });
  const ok = verdict.problem === null;
  return { ok, runId, ...verdict, divergence: divergence === null ? null : shown(divergence) };
}

const shown = ({ seq, kind, recorded, present, error }: Divergence): JsonObject => ({
  seq,
  kind,
  differs: recorded === null || present === null ? [] : differingFields(recorded, present),
  recorded:
    recorded === null
      ? null
      : { type: recorded.type, nodeId: recorded.nodeId, cause: recorded.cause, payload: recorded.payload },
  present:
    present === null
      ? null
      : {
          type: present.type,
          nodeId: present.nodeId ?? null,
          cause: present.cause ?? null,
          payload: JSON.stringify(present.payload),
        },
  ...(error === undefined ? {} : { error }),
});

/** Longest payload that a line shows; --json shows all of it. */
const MAX_SHOWN = 400;

function print(terminal: Terminal, { ok, runId, file, events, problem, divergence, leftAt }: Verdict): void {
  const { mark } = lookOf(ok ? 'completed' : 'failed', styleOf(terminal.colours.out));
  const left = leftAt === null ? '' : `; a replay that left its record at event ${leftAt}`;
  terminal.print(
    `${mark} ${safe(runId)}${file === undefined ? '' : ` in ${safe(file)}`}: ${ok ? `${events} events, decided as recorded${left}` : safe(problem ?? '')}`,
  );
  if (divergence === null) return;
  const { differs, error } = divergence;
  if (Array.isArray(differs) && differs.length > 0) terminal.print(`  differs:  ${safe(differs.join(', '))}`);
  terminal.print(`  recorded: ${line(divergence.recorded)}`);
  terminal.print(`  now:      ${line(divergence.present)}`);
  if (typeof error === 'string') terminal.print(`  because:  ${safe(error)}`);
}

function line(side: Json | undefined): string {
  if (!isJsonObject(side)) return 'nothing';
  const text = `${side.type}${side.nodeId === null ? '' : ` of ${side.nodeId}`}, cause ${side.cause}: ${side.payload}`;
  return safe(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
