/** The PostgreSQL database that a command names, or that its configuration does. */
import { TerminalError } from '@cairn/protocol';
import { readConfig } from '../server/config/config-sources.ts';
import type { Terminal } from './terminal.ts';

/** A configuration file is only read if nothing else names the database. */
export async function databaseUrl(
  terminal: Terminal,
  option: string | undefined,
  file: string | undefined,
): Promise<string> {
  const given = option ?? terminal.env.CAIRN_STORE ?? '';
  const sources = { env: terminal.env, ...(given === '' ? { file } : { flags: { store: given } }) };
  const config = await readConfig(sources);
  if (config.store !== undefined) return config.store.reveal();
  throw new TerminalError('config_invalid', {
    message: file === undefined ? 'No PostgreSQL database is named.' : `${file} names no PostgreSQL database.`,
    hint: 'Name it as postgres://user@host/database, or with CAIRN_STORE. A database in a data folder needs no name.',
  });
}
