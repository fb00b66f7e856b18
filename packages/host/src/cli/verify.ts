/** `cairn verify`: checks the hash chain of a run or a bundle, without a host. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isCairnError, TerminalError } from '@cairn/protocol';
import { chainHash, chainStart, rowHash } from '../log/chain.ts';
import type { Row } from '../log/ports/rows.ts';
import { type KeptRun, openReadOnly } from '../log/sqlite/folder/read-only.ts';
import { withBundle } from './bundle-file.ts';
import { dataFolder } from './data-folder.ts';
import { exit } from './exit.ts';
import { keptRunNamed } from './kept-run-name.ts';
import { lookOf } from './render/status.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface VerifyFlags {
  readonly data?: string;
  readonly json?: boolean;
}

interface Verdict {
  readonly ok: boolean;
  readonly runId: string | null;
  /** The number of checked rows. */
  readonly events: number;
  /** The hash of the last valid row; null if there is none. */
  readonly hash: string | null;
  /** The problem; null if there is none. */
  readonly problem: string | null;
}

/** An existing file is a bundle; any other name is a run in the data folder. */
export async function verify(terminal: Terminal, name: string, flags: VerifyFlags): Promise<number> {
  const file = resolve(terminal.cwd, name);
  const verdict = existsSync(file) ? bundleVerdict(file) : runVerdict(terminal, name, flags.data);
  if (flags.json === true) terminal.print(jsonLine(verdict));
  else {
    const { mark } = lookOf(verdict.ok ? 'completed' : 'failed', styleOf(terminal.colours.out));
    const what = verdict.runId === null ? safe(name) : safe(verdict.runId);
    const text = verdict.ok
      ? `${verdict.events} events, all hashes are valid`
      : `invalid: ${safe(verdict.problem ?? '')}`;
    terminal.print(`${mark} ${what}: ${text}`);
    if (verdict.ok) terminal.print(`  last hash ${verdict.hash}`);
  }
  return verdict.ok ? exit.ok : exit.failed;
}

function bundleVerdict(file: string): Verdict {
  let runId: string | null = null;
  let events = 0;
  try {
    return withBundle(file, (bundle) => {
      runId = bundle.runId;
      let hash: string | null = null;
      for (const { run, rows } of bundle.runs) {
        hash ??= run.hash;
        for (const _ of rows) events += 1;
      }
      return { ok: true, runId, events, hash, problem: null };
    });
  } catch (error) {
    if (!isCairnError(error, 'bundle_invalid')) throw error;
    return { ok: false, runId, events, hash: null, problem: error.message };
  }
}

function runVerdict(terminal: Terminal, name: string, data: string | undefined): Verdict {
  const folder = dataFolder(terminal, data);
  const log = openReadOnly(folder);
  try {
    const run = log.run(keptRunNamed(log, name));
    if (run !== null) return chainVerdict(run, log.rows(run));
    throw new TerminalError('not_found', {
      message: `There is no file ${name}, and no run with that id in ${folder}.`,
      hint: 'Pass a run id or the path of a bundle. --data selects another data folder.',
    });
  } finally {
    log.close();
  }
}

function chainVerdict({ runId, originRunId }: KeptRun, rows: Iterable<Row>): Verdict {
  let hash = chainStart(originRunId);
  let events = 0;
  const broken = (problem: string): Verdict => ({ ok: false, runId, events, hash, problem });
  for (const row of rows) {
    if (row.seq !== events) return broken(`event ${events} is missing`);
    if (rowHash(row) !== row.rowHash) return broken(`event ${row.seq} (${row.type}) does not match its hash`);
    const next = chainHash(hash, row.rowHash);
    if (next !== row.hash) return broken(`event ${row.seq} does not continue the hash chain`);
    hash = next;
    events += 1;
  }
  return { ok: true, runId, events, hash, problem: null };
}
