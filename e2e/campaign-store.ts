/** The store of a campaign: a data folder, or a real Postgres of its own, with its durability on. */
import { join } from 'node:path';
import type { ConfigInput } from '../packages/host/src/index.ts';
import { copyToFolder } from '../packages/host/src/log/copy/to-folder.ts';
import { type ListenerFault, uncaught } from '../packages/host/src/log/feed/followers.ts';
import type { Store } from '../packages/host/src/log/ports/store.ts';
import { connect, Database } from '../packages/host/src/log/postgres/database.ts';
import { migratePostgres } from '../packages/host/src/log/postgres/migrate.ts';
import { openPostgresStore } from '../packages/host/src/log/postgres/store.ts';
import { openSqliteStore } from '../packages/host/src/log/sqlite/folder/open.ts';
import { startDatabase } from '../packages/host/test/kit/test-database.ts';

export type StoreKind = 'sqlite' | 'postgres';

/** Parses the option `--store`. */
export function storeKind(value: unknown): StoreKind {
  if (value === 'sqlite' || value === 'postgres') return value;
  throw new TypeError(`--store takes sqlite or postgres, not "${String(value)}".`);
}

/** Where a host of a campaign keeps its data. */
export interface StoreSettings {
  readonly folder: string;
  /** The URL of its database; without one, the folder. */
  readonly store?: string | undefined;
}

export interface CampaignStore extends StoreSettings, AsyncDisposable {}

/** `home` is a folder of the campaign. */
export async function campaignStore(kind: StoreKind, home: string): Promise<CampaignStore> {
  const folder = join(home, 'data');
  if (kind === 'sqlite') return { folder, [Symbol.asyncDispose]: async () => undefined };
  const database = await startDatabase(home);
  await onDatabase(database.url, (target) => migratePostgres(target));
  return { folder, store: database.url, [Symbol.asyncDispose]: () => database.stop() };
}

const KEY = 'CAIRN_CAMPAIGN_KEY';

/** How long the runs of a killed host stay its own. */
export const LEASE_MS = 1_500;

/** The part of a host's configuration that names its store. */
export function storeConfig({ folder, store }: StoreSettings): ConfigInput {
  if (store === undefined) return { data: folder };
  process.env[KEY] = 'Y2FtcGFpZ24gY2FtcGFpZ24gY2FtcGFpZ24gY2FtcGE';
  return { data: folder, store, masterKey: { env: KEY }, leaseMs: LEASE_MS };
}

/** Opens the store in this process. A data folder is for one process: no host uses it any more. */
export const openCampaignStore = (
  { folder, store }: StoreSettings,
  onFault: ListenerFault = uncaught,
): Promise<Store> =>
  store === undefined
    ? openSqliteStore({ folder, onFault })
    : openPostgresStore({ url: store, onFault, elapsedMs: () => performance.now() });

/** The data folder that `cairn verify` reads: of a database it is a copy. */
export async function verifiableFolder({ folder, store }: StoreSettings): Promise<string> {
  if (store === undefined) return folder;
  const copy = `${folder}-copy`;
  await onDatabase(store, (database) => copyToFolder(database, copy));
  return copy;
}

export async function onDatabase<Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const pool = connect({ url, connections: 1 });
  try {
    return await work(new Database(pool));
  } finally {
    await pool.end();
  }
}
