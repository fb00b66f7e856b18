/** `cairn import`: adds the run of a bundle to a data folder that no host uses, or to a database. The imported run is read-only. */
import { existsSync, statfsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isCairnError, type RunId, TerminalError } from '@cairn/protocol';
import type { BundledRun } from '../log/bundle/bundle.ts';
import type { NewRow } from '../log/ports/rows.ts';
import type { Store } from '../log/ports/store.ts';
import { openPostgresStore } from '../log/postgres/store.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { openReadOnly } from '../log/sqlite/folder/read-only.ts';
import { taskFaces } from '../log/task-faces.ts';
import { withBundle } from './bundle-file.ts';
import { exit } from './exit.ts';
import { type StoreFlags, type StorePlace, storePlace, withDatabase } from './offline-store.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface ImportFlags extends StoreFlags {
  /** Default: the only tenant of the store, or `dev` in a new one. */
  readonly tenant?: string;
  readonly json?: boolean;
}

export async function importRun(terminal: Terminal, name: string, flags: ImportFlags): Promise<number> {
  const file = resolve(terminal.cwd, name);
  const checked = checkBundle(file);
  const { store, place, tenants } = await opened(await storePlace(terminal, flags), checked.bytes);
  const { runId, runs, events } = checked;
  try {
    const tenant = flags.tenant ?? onlyTenant(place, tenants);
    const added = await importBundle(store, file, { tenant, importedAt: terminal.now() });
    if (flags.json === true) terminal.print(jsonLine({ runId, runs, events, tenant, imported: added > 0 }));
    else if (added > 0) {
      const { green, cairn } = styleOf(terminal.colours.out, terminal.env);
      const which = runs === 1 ? '' : `${added} runs, `;
      terminal.print(`${green('✓')} ${runId}: imported ${which}${events} events into ${place} for tenant ${tenant}`);
      if (checked.forks > 0)
        terminal.tell(
          'A fork is here a run of its own with all of its events. Its bundle still names what it is a fork of.',
        );
      const parentRunId = await absentParent(store, runId);
      if (parentRunId !== null)
        terminal.tell(
          `The run above it, ${safe(parentRunId)}, is not here. "${cairn} runs parent:any" lists a run without the one above it.`,
        );
    } else terminal.print(`· ${runId} is already in ${place}, with the same hash`);
    return exit.ok;
  } finally {
    await store.close();
  }
}

/** The parent that the run names, if the store does not have it. The run list then has no row to fold the run into. */
async function absentParent(store: Store, runId: RunId): Promise<string | null> {
  const parentRunId = (await store.log.head(runId))?.record.parentRunId ?? null;
  return parentRunId === null || (await store.log.head(parentRunId)) !== null ? null : parentRunId;
}

interface Opened {
  readonly store: Store;
  readonly place: string;
  readonly tenants: readonly string[];
}

/** Nodes may use a database meanwhile; a data folder is for one process. */
async function opened(at: StorePlace, bytes: number): Promise<Opened> {
  if (at.kind === 'postgres') {
    const { place, tenants } = await withDatabase(at.url, async (database) => ({
      place: database.place,
      tenants: await database.rows<[string]>('SELECT tenant FROM cairn.workflows UNION SELECT tenant FROM cairn.runs'),
    }));
    const elapsedMs = () => performance.now();
    const store = await openPostgresStore({ url: at.url, connections: 1, elapsedMs });
    return { store, place, tenants: tenants.map(([tenant]) => tenant).sort() };
  }
  const { folder } = at;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  checkSpace(folder, bytes);
  const tenants = tenantsIn(folder);
  const store = await openSqliteStore({ folder }).catch((error: unknown) => {
    throw isCairnError(error, 'store_locked') ? hostRuns(folder, error) : error;
  });
  return { store, place: folder, tenants };
}

/** Reads the whole bundle before anything is written, so that an invalid one changes nothing. */
function checkBundle(file: string) {
  return withBundle(file, (bundle, bytes) => {
    let runs = 0;
    let events = 0;
    let forks = 0;
    for (const { run, rows } of bundle.runs) {
      runs += 1;
      if (run.fork !== null) forks += 1;
      for (const { seq, payload } of rows) {
        if (payload === null) throw contentMissing(run.runId, seq);
        events += 1;
      }
    }
    return { runId: bundle.runId, runs, events, forks, bytes };
  });
}

/** Returns the number of added runs. Each is added whole or not at all; a repeated import adds those that are missing. */
export async function importBundle(
  store: Store,
  file: string,
  { tenant, importedAt }: { readonly tenant: string; readonly importedAt: number },
): Promise<number> {
  return await withBundle(file, async (bundle) => {
    let added = 0;
    // Before the rows that name them. Blobs that no row names in the end are swept by the host.
    for (const { bytes } of bundle.blobs) await store.blobs.put({ tenant, bytes, at: importedAt });
    for (const bundled of bundle.runs) {
      const { run } = bundled;
      const { runId, contextId, originRunId, parentRunId, seq, hash } = run;
      const known = await store.log.head(runId);
      if (known?.record.tenant === tenant && known.hash === hash) continue;
      // A definition is stored under its hash, so writing it first is harmless.
      if (added === 0) for (const [key, body] of bundle.definitions) await store.definitions.put(key, body);
      const origin = { originRunId, ...(parentRunId === null ? {} : { parentRunId }) };
      await store.log.importRun({ runId, tenant, contextId, ...origin, importedAt, seq, hash }, newRows(bundled));
      added += 1;
    }
    return added;
  });
}

/** Gives each row the task face that this version writes. */
function* newRows({ run, rows }: BundledRun): Generator<NewRow> {
  const faceOf = taskFaces(run.runId);
  for (const { payload: text, nodeId, cause, ...row } of rows) {
    const payload = text ?? '';
    const { at, type, audience } = row;
    const task = faceOf({ ...row, nodeId, cause, payload });
    yield { at, type, nodeId: nodeId ?? undefined, cause: cause ?? undefined, audience, payload, task };
  }
}

const contentMissing = (runId: string, seq: number): TerminalError =>
  new TerminalError('bundle_invalid', {
    message: `The bundle has no content for event ${seq} of run ${runId}: it was retired before the export.`,
    hint: '"cairn verify" still checks the hashes of such a bundle. Only a bundle with all content can be imported.',
    details: { runId, seq },
  });

function tenantsIn(folder: string): readonly string[] {
  if (!existsSync(join(folder, 'cairn.db'))) return [];
  const log = openReadOnly(folder);
  try {
    return log.tenants();
  } finally {
    log.close();
  }
}

function onlyTenant(place: string, [only = 'dev', ...others]: readonly string[]): string {
  if (others.length === 0) return only;
  throw usageError(`${place} has several tenants: ${[only, ...others].join(', ')}.`, 'Choose one with --tenant.');
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
