/** `cairn import`: takes the run of a bundle into a data folder that no host uses. The run is inert there. */
import { existsSync, statfsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isCairnError, TerminalError } from '@cairn/protocol';
import type { Store } from '../log/ports/store.ts';
import { openSqliteStore } from '../log/sqlite/open.ts';
import { openReadOnly } from '../log/sqlite/read-only.ts';
import { withBundle } from './bundle-file.ts';
import { dataFolder } from './data-folder.ts';
import { exit } from './exit.ts';
import { jsonLine, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface ImportFlags {
  readonly data?: string;
  /** Left out: the only tenant the folder knows; `dev` in a new one. */
  readonly tenant?: string;
  readonly json?: boolean;
}

export async function importRun(terminal: Terminal, name: string, flags: ImportFlags): Promise<number> {
  const file = resolve(terminal.cwd, name);
  // Read to its end once before anything is written: what is wrong with it shows here.
  const checked = withBundle(file, ({ run, rows }, bytes) => {
    for (const _ of rows);
    return { run, bytes };
  });
  const folder = dataFolder(terminal, flags.data);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  checkSpace(folder, checked.bytes);
  const tenant = flags.tenant ?? onlyTenant(folder);
  const store = await openSqliteStore({ folder }).catch((error: unknown) => {
    throw isCairnError(error, 'store_locked') ? hostRuns(folder, error) : error;
  });
  const { runId, seq } = checked.run;
  try {
    const isNew = await imported(store, file, terminal, tenant);
    if (flags.json === true) terminal.print(jsonLine({ runId, events: seq + 1, tenant, imported: isNew }));
    else if (isNew) {
      const { green } = styleOf(terminal.colours.out);
      terminal.print(`${green('✓')} ${runId}: ${seq + 1} events are in ${folder}, for the tenant ${tenant}`);
    } else terminal.print(`· ${runId} is in ${folder} already, with the same hash`);
    return exit.ok;
  } finally {
    await store.close();
  }
}

/** False when the very same run is there. The definition is kept under its hash, so to write it first harms nobody. */
async function imported(store: Store, file: string, terminal: Terminal, tenant: string): Promise<boolean> {
  return await withBundle(file, async ({ run, definition, rows }) => {
    const { runId, contextId, originRunId, parentRunId, definitionHash, seq, hash } = run;
    const known = await store.log.head(runId);
    if (known?.record.tenant === tenant && known.hash === hash) return false;
    await store.records.putDefinition(definitionHash, definition);
    const origin = { originRunId, ...(parentRunId === null ? {} : { parentRunId }) };
    await store.log.importRun({ runId, tenant, contextId, ...origin, importedAt: terminal.now(), seq, hash }, rows);
    return true;
  });
}

function onlyTenant(folder: string): string {
  if (!existsSync(join(folder, 'cairn.db'))) return 'dev';
  const log = openReadOnly(folder);
  try {
    const [only = 'dev', ...others] = log.tenants();
    if (others.length === 0) return only;
    throw usageError(
      `${folder} has several tenants: ${[only, ...others].join(', ')}.`,
      'Say whose run it becomes with --tenant.',
    );
  } finally {
    log.close();
  }
}

/** The rows take about as much in the database as in the file, and once more in its write-ahead log. */
function checkSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= 2 * bytes) return;
  throw new TerminalError('store_full', {
    message: `The bundle takes about ${2 * bytes} bytes in ${folder}, and ${free} are free.`,
    hint: 'Free space, or import into a folder on another disk with --data.',
  });
}

const hostRuns = (folder: string, cause: unknown): TerminalError =>
  new TerminalError('store_locked', {
    message: `A host runs on ${folder}; a bundle cannot be imported beside it.`,
    hint: 'Stop the host, import, and start it again; or import into another folder with --data.',
    cause,
  });
