/** `cairn import`: adds the run of a bundle to a data folder that no host uses. The imported run is read-only. */
import { existsSync, statfsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isCairnError, TerminalError } from '@cairn/protocol';
import type { Store } from '../log/ports/store.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { openReadOnly } from '../log/sqlite/folder/read-only.ts';
import { withBundle } from './bundle-file.ts';
import { dataFolder } from './data-folder.ts';
import { exit } from './exit.ts';
import { jsonLine, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface ImportFlags {
  readonly data?: string;
  /** Default: the only tenant of the folder, or `dev` in a new folder. */
  readonly tenant?: string;
  readonly json?: boolean;
}

export async function importRun(terminal: Terminal, name: string, flags: ImportFlags): Promise<number> {
  const file = resolve(terminal.cwd, name);
  // Read the whole bundle before writing anything, so that an invalid one changes nothing.
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
      terminal.print(`${green('✓')} ${runId}: imported ${seq + 1} events into ${folder} for tenant ${tenant}`);
    } else terminal.print(`· ${runId} is already in ${folder}, with the same hash`);
    return exit.ok;
  } finally {
    await store.close();
  }
}

/** False if the same run exists. The definition is stored under its hash, so writing it first is harmless. */
async function imported(store: Store, file: string, terminal: Terminal, tenant: string): Promise<boolean> {
  return await withBundle(file, async ({ run, definition, rows }) => {
    const { runId, contextId, originRunId, parentRunId, definitionHash, seq, hash } = run;
    const known = await store.log.head(runId);
    if (known?.record.tenant === tenant && known.hash === hash) return false;
    await store.definitions.put(definitionHash, definition);
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
    throw usageError(`${folder} has several tenants: ${[only, ...others].join(', ')}.`, 'Choose one with --tenant.');
  } finally {
    log.close();
  }
}

/** The rows need about the file size in the database, and the same again in its write-ahead log. */
function checkSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= 2 * bytes) return;
  throw new TerminalError('store_full', {
    message: `The import needs about ${2 * bytes} bytes in ${folder}, but only ${free} are free.`,
    hint: 'Free some space, or import into a folder on another disk with --data.',
  });
}

const hostRuns = (folder: string, cause: unknown): TerminalError =>
  new TerminalError('store_locked', {
    message: `A host uses ${folder}, so a bundle cannot be imported.`,
    hint: 'Stop the host, import, and start it again. Or import into another folder with --data.',
    cause,
  });
