/** `cairn migrate`: brings a PostgreSQL database to the schema of this version. Nodes of the version before go on meanwhile. */
import { connect, Database } from '../log/postgres/database.ts';
import { migratePostgres } from '../log/postgres/migrate.ts';
import { databaseUrl } from './database-url.ts';
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
