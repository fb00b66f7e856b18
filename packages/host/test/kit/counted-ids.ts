/** Sequential ids, so that two runs of a test can be compared. */
import type { UniqueId } from '../../src/engine/ports.ts';

export function countedIds(prefix = ''): UniqueId {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}${count.toString(36).padStart(4, '0')}`;
  };
}
