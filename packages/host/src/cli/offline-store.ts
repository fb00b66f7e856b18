/** Opens the store that a command without a host reads: a data folder, or a copy of what a PostgreSQL database holds. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RunId } from '@cairn/protocol';
import { postgresProblems } from '../log/copy/postgres-checks.ts';
import { copyToFolder } from '../log/copy/to-folder.ts';
import { connect, Database } from '../log/postgres/database.ts';
import { checkSchema } from '../log/postgres/migrate.ts';
import { openReadOnly, type ReadOnlyLog } from '../log/sqlite/folder/read-only.ts';
import type { Problem } from '../log/sqlite/verify/problem.ts';
import { dataFolder } from './data-folder.ts';
import { databaseUrl } from './database-url.ts';
import { exit } from './exit.ts';
import { upward } from './find-host.ts';
import { fieldsOf } from './render/fields.ts';
import { LAST } from './run-name.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface StoreFlags {
  readonly data?: string;
  readonly store?: string;
  readonly config?: string;
}

/** Where the data of a host is. */
export type StorePlace =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** The option, else the environment, else the configuration: that of the flag, or the nearest one. */
export async function storePlace(terminal: Terminal, flags: StoreFlags): Promise<StorePlace> {
  if (flags.store !== undefined && flags.data !== undefined)
    throw usageError('--store and --data name two stores.', 'Pass one of them.');
  const isGiven = flags.store !== undefined || (flags.data === undefined && (terminal.env.CAIRN_STORE ?? '') !== '');
  if (isGiven) return { kind: 'postgres', url: await databaseUrl(terminal, flags.store, undefined) };
  const file = flags.data === undefined ? configuration(terminal, flags.config) : null;
  if (file !== null) return { kind: 'postgres', url: await databaseUrl(terminal, undefined, file) };
  return { kind: 'folder', folder: dataFolder(terminal, flags.data) };
}

/** The configuration that a host here would use, if it names a database. */
function configuration({ cwd, env }: Terminal, option: string | undefined): string | null {
  if (option !== undefined) return namesStore(resolve(cwd, option)) ? resolve(cwd, option) : null;
  if ((env.CAIRN_DATA ?? '') !== '') return null;
  for (const folder of upward(cwd)) {
    if (existsSync(join(folder, '.cairn', 'cairn.db'))) return null;
    const file = join(folder, 'cairn.json');
    if (existsSync(file)) return namesStore(file) ? file : null;
  }
  return null;
}

/** The code that needs the file reports that it cannot be read. */
function namesStore(file: string): boolean {
  try {
    return fieldsOf(JSON.parse(readFileSync(file, 'utf8'))).store !== undefined;
  } catch {
    return false;
  }
}

export interface OpenedLog {
  readonly log: ReadOnlyLog;
  /** As messages name it. */
  readonly place: string;
  /** The data folder; null for a database. */
  readonly folder: string | null;
  /** What is wrong with a database beside what the log shows. Empty if only some runs were asked for. */
  readonly problems: readonly Problem[];
}

/** `names` are those of the runs that the command needs; null means all. */
export async function withLog<Result>(
  terminal: Terminal,
  { flags, names }: { readonly flags: StoreFlags; readonly names: readonly string[] | null },
  use: (opened: OpenedLog) => Result | Promise<Result>,
): Promise<Result> {
  const place = await storePlace(terminal, flags);
  if (place.kind === 'postgres') return withCopy(terminal, { url: place.url, names }, use);
  const { folder } = place;
  const log = openReadOnly(folder);
  try {
    return await use({ log, place: folder, folder, problems: [] });
  } finally {
    log.close();
  }
}

async function withCopy<Result>(
  terminal: Terminal,
  { url, names }: { readonly url: string; readonly names: readonly string[] | null },
  use: (opened: OpenedLog) => Result | Promise<Result>,
): Promise<Result> {
  return withScratch(terminal, tmpdir(), (scratch) =>
    withDatabase(url, async (database) => {
      const folder = join(scratch, 'data');
      let problems: readonly Problem[] = [];
      const runIds = names === null ? undefined : await runsNamed(database, names);
      await copyToFolder(database, folder, {
        runIds,
        onProgress: told(terminal),
        also: async (queries) => {
          if (names === null) problems = await postgresProblems(queries);
        },
      });
      const log = openReadOnly(folder);
      try {
        return await use({ log, place: database.place, folder: null, problems });
      } finally {
        log.close();
      }
    }),
  );
}

/** A database with the schema of this version. */
export async function withDatabase<Result>(url: string, use: (database: Database) => Promise<Result>): Promise<Result> {
  const pool = connect({ url, connections: 1 });
  try {
    const database = new Database(pool);
    await checkSchema(database);
    return await use(database);
  } finally {
    await pool.end();
  }
}

/** A folder that is gone afterwards, also after Ctrl-C. */
export async function withScratch<Result>(
  terminal: Terminal,
  parent: string,
  use: (scratch: string) => Promise<Result>,
): Promise<Result> {
  const scratch = mkdtempSync(join(parent, 'cairn-copy-'));
  const clear = (): void => rmSync(scratch, { recursive: true, force: true });
  terminal.onSignal(() => {
    clear();
    terminal.exit(exit.interrupted);
  });
  try {
    return await use(scratch);
  } finally {
    clear();
  }
}

/** The runs that names may mean. The copy of them decides which is meant. */
async function runsNamed(database: Database, names: readonly string[]): Promise<readonly RunId[]> {
  const found: RunId[] = [];
  for (const name of names) {
    const rows =
      name === LAST
        ? await database.rows<[RunId]>('SELECT id FROM cairn.runs WHERE parent IS NULL ORDER BY key DESC LIMIT 1')
        : await database.rows<[RunId]>(
            `SELECT id FROM (SELECT id FROM cairn.runs UNION ALL SELECT id FROM cairn.purged_runs) every
               WHERE starts_with(id, $1::text) OR starts_with(id, 'run_' || $1::text) ORDER BY length(id) LIMIT 20`,
            [name],
          );
    found.push(...rows.map(([id]) => id));
  }
  return found;
}

/** Rows between two lines for a person who waits. */
const TOLD_ROWS = 100_000;

export function told(terminal: Terminal): (rows: number) => void {
  let next = TOLD_ROWS;
  return (rows) => {
    if (terminal.columns === null || rows < next) return;
    next = rows + TOLD_ROWS;
    terminal.tell(`… ${rows} rows copied`);
  };
}
