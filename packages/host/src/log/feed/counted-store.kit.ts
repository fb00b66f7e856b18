/** A store whose reads are counted, for tests of what the feed reads from the log. */
import type { RunRows } from '../ports/event-log.ts';
import type { Store } from '../ports/store.ts';

export function counted(store: Store) {
  const reads: RunRows[] = [];
  const read: Store['log']['read'] = (range) => {
    reads.push(range as RunRows);
    return store.log.read(range);
  };
  const log = { ...store.log, read };
  return { reads, log };
}
