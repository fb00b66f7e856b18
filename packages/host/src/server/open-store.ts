/** Opens the store of a host: the one that a caller gives, the Postgres that nodes share, or the database in its folder. */
import type { Report } from '../engine/ports.ts';
import type { Store } from '../log/ports/store.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { elapsedMs, laterTurns, systemClock } from './compose.ts';
import type { HostConfig } from './config/config.ts';
import { type IdentifiedConfig, identified } from './host-id.ts';
import { checkFolderKey, checkSharedKey } from './secrets/host-secret.ts';
import type { SecretText } from './secrets/secret-text.ts';
import { checkClock } from './shared-clock.ts';

export interface OpenStorePorts {
  readonly report: Report;
  /** Gets the store as soon as it is open, so that it is closed even if its host does not start. */
  readonly opened: { push(store: Store): void };
}

export interface OpenedStore {
  readonly store: Store;
  /** With the id of the host. */
  readonly config: IdentifiedConfig;
  /** The folder of the host's own key; null for a host that has none there. */
  readonly keyFolder: string | null;
}

export async function openStore(
  config: HostConfig,
  given: Store | undefined,
  ports: OpenStorePorts,
): Promise<OpenedStore> {
  if (given !== undefined) {
    ports.opened.push(given);
    return { store: given, config: await identified(config, null), keyFolder: null };
  }
  return config.store === undefined ? openFolder(config, ports) : openShared(config, config.store, ports);
}

async function openFolder(config: HostConfig, { report, opened }: OpenStorePorts): Promise<OpenedStore> {
  const { data, masterKey } = config;
  const store = await openSqliteStore({
    folder: data,
    onFault: onFault(report),
    elapsedMs,
    nextTurn: (go) => laterTurns.nextTurn(go),
    onMigration: (notice) => report({ level: 'info', event: 'store.migrating', facts: { ...notice } }),
  });
  opened.push(store);
  await checkFolderKey({ masterKey, folder: data }, store.facts);
  return { store, config: await identified(config, store.facts), keyFolder: data };
}

/** The driver is loaded here, so that a host on SQLite starts without it. */
async function openShared(
  config: HostConfig,
  url: SecretText,
  { report, opened }: OpenStorePorts,
): Promise<OpenedStore> {
  const { openPostgresStore } = await import('../log/postgres/store.ts');
  const urls = { url: url.reveal(), listenUrl: config.storeListen?.reveal() };
  const nextTurn = (go: () => void) => laterTurns.nextTurn(go);
  const store = await openPostgresStore({ ...urls, onFault: onFault(report), elapsedMs, nextTurn });
  opened.push(store);
  await checkClock({ shared: store.facts.now, now: systemClock.now, leaseMs: config.leaseMs });
  await checkSharedKey(config.masterKey, store.facts);
  return { store, config: await identified(config, store.facts), keyFolder: null };
}

const onFault = (report: Report) => (error: unknown) => report({ level: 'error', event: 'store.fault', error });
