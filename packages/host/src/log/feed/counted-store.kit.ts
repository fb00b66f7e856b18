/** A store whose reads are counted, for tests of what the feed reads from the log. */
import type { RunRows } from '../ports/event-log.ts';
import type { Store } from '../ports/store.ts';

export function countReads(store: Store) {
  const reads: RunRows[] = [];
  const read: Store['log']['read'] = (range) => {
    reads.push(range as RunRows);
    return store.log.read(range);
  };
  return { reads, counted: { ...store, log: { ...store.log, read } } };
}
