/** How a contract suite gets the ports that it needs; not shipped. */
import { afterEach, beforeEach } from 'vitest';
import type { Store } from './store.ts';

/** Opens an empty store, or of a store that is not finished the ports that a suite needs. The suite closes it. */
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
