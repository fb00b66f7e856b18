/** Vitest setup file: validates every row that the engine writes in a test against the schema of its type. */
import { vi } from 'vitest';

// `stamp` creates every row that the engine appends, with any store.
vi.mock(import('../../src/engine/core/stamp.ts'), async (original) => {
  const { stamp } = await original();
  // Imported lazily: most test files write no rows.
  const { checkRow } = await import('@cairn/protocol');
  return {
    stamp(...asked: Parameters<typeof stamp>) {
      const rows = stamp(...asked);
      try {
        rows.forEach(checkRow);
      } catch (error) {
        // An error thrown here would fail the run, which a test may expect. An unhandled rejection fails the suite.
        void Promise.reject(error);
      }
      return rows;
    },
  };
});
