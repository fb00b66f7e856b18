/** Ids that are unique by counting, so that a run of a test can be compared with another. */
import type { UniqueId } from '../../src/engine/ports.ts';

export function countedIds(prefix = ''): UniqueId {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}${count.toString(36).padStart(4, '0')}`;
  };
}
