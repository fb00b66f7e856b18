/** Holds every row that the engine writes in a test to the schema of its type: set up before each file of tests. */
import { vi } from 'vitest';

// `stamp` makes every row that the engine appends, whatever the store.
vi.mock(import('../../src/engine/core/stamp.ts'), async (original) => {
  const { stamp } = await original();
  // Not loaded for the many files that write no row.
  const { checkRow } = await import('@cairn/protocol');
  return {
    stamp(...asked: Parameters<typeof stamp>) {
      const rows = stamp(...asked);
      try {
        rows.forEach(checkRow);
      } catch (error) {
        // Thrown here it would become the failure of a run, which a test may well expect. Nobody handles it: the suite fails.
        void Promise.reject(error);
      }
      return rows;
    },
  };
});
