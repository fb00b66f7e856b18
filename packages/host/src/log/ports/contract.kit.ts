/** Opens stores for the contract suites; not shipped. */
import { afterEach, beforeEach } from 'vitest';
import type { Store } from './store.ts';

/** Opens an empty store, or only the ports a suite needs if the store is incomplete. The suite closes it. */
export type Open<Port extends keyof Store = keyof Store> = () => Promise<Ports<Port>> | Ports<Port>;

export type Ports<Port extends keyof Store> = Pick<Store, Port | 'close'>;

/** A new store for each test. */
export function eachStore<Port extends keyof Store>(open: Open<Port>): () => Ports<Port> {
  let store: Ports<Port> | null = null;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store?.close());
  return () => {
    if (store === null) throw new Error('A store is open only while a test runs.');
    return store;
  };
}
