/** Vitest setup file: validates every row that the host writes in a test against the schema of its type. */
import { vi } from 'vitest';

// `newRow` makes every row that the host appends, with any store.
vi.mock(import('../../src/log/ports/new-row.ts'), async (original) => {
  const { newRow } = await original();
  // Imported lazily: most test files write no rows.
  const { checkRow } = await import('@cairn/protocol');
  return {
    newRow(...asked: Parameters<typeof newRow>) {
      const row = newRow(...asked);
      try {
        checkRow(row);
      } catch (error) {
        // An error thrown here would fail the run, which a test may expect. An unhandled rejection fails the suite.
        void Promise.reject(error);
      }
      return row;
    },
  };
});
