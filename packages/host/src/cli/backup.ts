/** `cairn backup` and `cairn restore`: copy the data of a host into one file while it runs, and back. */
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { moveToPostgres } from '../log/copy/move.ts';
import { copyToFolder } from '../log/copy/to-folder.ts';
import { connect, Database } from '../log/postgres/database.ts';
import { migratePostgres } from '../log/postgres/migrate.ts';
import {
  type BackupFacts,
  type BackupOptions,
  backupFolder,
  refuseExisting,
  restoreFolder,
} from '../log/sqlite/folder/backup.ts';
import { databaseUrl } from './database-url.ts';
import { exit } from './exit.ts';
import { type StoreFlags, storePlace, told, withDatabase, withScratch } from './offline-store.ts';
import { outputFile } from './output-file.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface BackupFlags extends StoreFlags {
  readonly includeKey?: boolean;
  readonly json?: boolean;
}

export interface RestoreFlags {
  readonly data?: string;
  readonly store?: string;
  readonly json?: boolean;
}

export async function backup(terminal: Terminal, name: string, flags: BackupFlags): Promise<number> {
  const file = outputFile(terminal, name);
  const place = await storePlace(terminal, flags);
  const options = { hasKey: flags.includeKey === true, at: terminal.now(), onProgress: quarters(terminal) };
  const facts =
    place.kind === 'folder'
      ? await backupFolder(place.folder, file, options)
      : await backupDatabase(terminal, place.url, file, options);
  if (flags.json === true) terminal.print(jsonLine({ file, ...shown(facts) }));
  else {
    terminal.print(`${mark(terminal)} ${safe(relative(terminal.cwd, file))}: ${sizes(facts)}`);
    terminal.tell(aboutKey(facts, place.kind));
  }
  return exit.ok;
}

/** The copy is beside the file, where there is room for it. */
async function backupDatabase(
  terminal: Terminal,
  url: string,
  file: string,
  options: BackupOptions,
): Promise<BackupFacts> {
  if (options.hasKey)
    throw usageError('A host on PostgreSQL has no host.key.', 'Keep its masterKey elsewhere; it is in no backup.');
  refuseExisting(file);
  return withScratch(terminal, dirname(file), (scratch) =>
    withDatabase(url, async (database) => {
      await copyToFolder(database, join(scratch, 'data'), { onProgress: told(terminal) });
      return backupFolder(join(scratch, 'data'), file, options);
    }),
  );
}

const aboutKey = ({ hasKey }: BackupFacts, kind: 'folder' | 'postgres'): string => {
  if (kind === 'postgres')
    return 'It contains the data of all runs, but not the masterKey. Keep that, too: a restored host needs it.';
  return hasKey
    ? 'It contains the data of all runs and the key of the host. Keep it as safe as a password.'
    : 'It contains the data of all runs, but not host.key. Keep that file, too: a restored host needs it.';
};

/** Into a new data folder, or into an empty database. Both take a backup of either. */
export async function restore(terminal: Terminal, name: string, flags: RestoreFlags): Promise<number> {
  if ((flags.data === undefined) === (flags.store === undefined))
    throw usageError('A restore needs either --data or --store.', 'For example: cairn restore FILE --data ./restored');
  const file = resolve(terminal.cwd, name);
  if (flags.data === undefined) return restoreDatabase(terminal, file, flags);
  const folder = resolve(terminal.cwd, flags.data);
  const facts = restoreFolder(file, folder);
  if (flags.json === true) terminal.print(jsonLine({ folder, ...shown(facts) }));
  else {
    terminal.print(`${mark(terminal)} ${safe(folder)}: ${sizes(facts)}; all hashes are valid`);
    if (!facts.hasKey) terminal.tell(`Copy host.key of the old host to ${safe(folder)}, unless it has a masterKey.`);
    terminal.tell(NOT_BOTH);
  }
  return exit.ok;
}

async function restoreDatabase(terminal: Terminal, file: string, flags: RestoreFlags): Promise<number> {
  const pool = connect({ url: await databaseUrl(terminal, flags.store, undefined), connections: 1 });
  try {
    const facts = await withScratch(terminal, tmpdir(), async (scratch) => {
      const folder = join(scratch, 'data');
      const restored = restoreFolder(file, folder);
      const database = new Database(pool);
      await migratePostgres(database);
      await moveToPostgres({ folder, database });
      return restored;
    });
    if (flags.json === true) terminal.print(jsonLine({ database: pool.place, ...shown(facts) }));
    else {
      terminal.print(`${mark(terminal)} ${safe(pool.place)}: ${sizes(facts)}; all hashes are valid`);
      terminal.tell('Give every node the key of the old host as masterKey.');
      terminal.tell(NOT_BOTH);
    }
    return exit.ok;
  } finally {
    await pool.end();
  }
}

const NOT_BOTH = 'Do not start it while the old host runs: both would go on with the same runs.';

/** Tells a person who waits when another quarter is copied. */
function quarters(terminal: Terminal): (copied: number, pages: number) => void {
  let told = 0;
  return (copied, pages) => {
    const quarter = Math.floor((copied / pages) * 4);
    if (terminal.columns === null || quarter <= told || quarter > 3) return;
    told = quarter;
    terminal.tell(`… ${quarter * 25} % copied`);
  };
}

const mark = (terminal: Terminal): string => styleOf(terminal.colours.out).green('✓');

const sizes = ({ runs, events, files }: BackupFacts): string => `runs: ${runs}, events: ${events}, files: ${files}`;

const shown = ({ at, ...facts }: BackupFacts) => ({ backedUpAt: new Date(at).toISOString(), ...facts });
