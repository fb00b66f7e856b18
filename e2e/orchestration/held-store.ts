/** A store that serializes appends and can hold some back. A test uses it to stop a tree of runs at a given row. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Append, Appended } from '../../packages/host/src/log/ports/event-log.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';

/** Delay between two appends, long enough for a request to arrive between them. */
const PACE_MS = 1;

export interface HeldStore {
  readonly store: Store;
  /** Appends that match wait until `release`. */
  hold(isHeld: (append: Append) => boolean): void;
  release(): void;
}

export function heldStore(base: Store): HeldStore {
  let isHeld: (append: Append) => boolean = () => false;
  let released = Promise.withResolvers<void>();
  let turn: Promise<unknown> = Promise.resolve();

  async function append(given: Append): Promise<Appended> {
    while (isHeld(given)) await released.promise;
    const before = turn;
    const own = Promise.withResolvers<void>();
    turn = own.promise;
    await before;
    void pause(PACE_MS).then(own.resolve);
    return base.log.append(given);
  }

  return {
    store: { ...base, log: { ...base.log, append } },
    hold(which) {
      isHeld = which;
      released = Promise.withResolvers<void>();
    },
    release() {
      isHeld = () => false;
      released.resolve();
    },
  };
}
