/** `cairn migrate`: brings a PostgreSQL database to the schema of this version. Nodes of the version before go on meanwhile. */
import { TerminalError } from '@cairn/protocol';
import { connect, Database } from '../log/postgres/database.ts';
import { migratePostgres } from '../log/postgres/migrate.ts';
import { readConfig } from '../server/config/config-sources.ts';
import { exit } from './exit.ts';
import { jsonLine, safe } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface MigrateFlags {
  readonly store?: string;
  readonly config: string;
  readonly json?: boolean;
}

export async function migrate(terminal: Terminal, { store, config, json }: MigrateFlags): Promise<number> {
  const pool = connect({ url: await databaseUrl(terminal, store, config), connections: 1 });
  try {
    const { applied, version } = await migratePostgres(new Database(pool));
    if (json === true) terminal.print(jsonLine({ database: pool.place, version, applied }));
    else if (applied.length === 0) terminal.print(`${safe(pool.place)} has schema version ${version} already.`);
    else {
      for (const name of applied) terminal.print(`applied: ${safe(name)}`);
      terminal.print(`${safe(pool.place)} has schema version ${version} now.`);
    }
    return exit.ok;
  } finally {
    await pool.end();
  }
}

/** A configuration file is only read if nothing else names the database. */
async function databaseUrl(terminal: Terminal, store: string | undefined, file: string): Promise<string> {
  const given = store ?? terminal.env.CAIRN_STORE ?? '';
  const sources = { env: terminal.env, ...(given === '' ? { file } : { flags: { store: given } }) };
  const config = await readConfig(sources);
  if (config.store !== undefined) return config.store.reveal();
  throw new TerminalError('config_invalid', {
    message: `${file} names no PostgreSQL database.`,
    hint: 'Pass --store postgres://user@host/database. A database in a data folder is migrated when its host starts.',
  });
}
