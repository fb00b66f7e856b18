/**
 * An empty store for a test that keeps nothing: in memory, or with CAIRN_SUITE_STORE=postgres a database of a real server;
 * not shipped.
 */
import { expect, onTestFinished } from 'vitest';
import { inMemoryStore } from './in-memory/store.ts';
import type { Store } from './ports/store.ts';

export async function emptyStore(): Promise<Store> {
  if (process.env.CAIRN_SUITE_STORE !== 'postgres') return inMemoryStore();
  // Few tests need the server and its driver.
  const { elapsedMs, freshDatabase } = await import('./postgres/server.kit.ts');
  const { openPostgresStore } = await import('./postgres/store.ts');
  const store = await openPostgresStore({ url: await freshDatabase(), connections: 4, elapsedMs });
  // A store that all tests of a file share is closed with their host.
  if (expect.getState().currentTestName !== undefined) onTestFinished(() => store.close());
  return store;
}
