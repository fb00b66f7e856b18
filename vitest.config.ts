import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const conditions = ['@cairn/source'];

// Processes that tests start find the sources compiled: a host then takes half the time to start.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** Tests that replace modules or globals, or measure the memory of their own process. */
const alone = [
  'e2e/golden/fork-everywhere.test.ts',
  'e2e/streams/stalled.test.ts',
  'e2e/task-events/slow-client.test.ts',
  'packages/host/src/log/sqlite/broken-disk.test.ts',
];
/** The long ones. They begin before the many small ones, which then keep both workers busy to the end. */
const first = [
  '{e2e,bench,scripts}/**/*.test.ts',
  'packages/host/src/cli/**/*.test.ts',
  'packages/host/src/log/postgres/postgres.test.ts',
  'packages/host/src/log/sqlite/sqlite.test.ts',
  'packages/host/src/log/sqlite/verify/stored-checks.test.ts',
  'packages/host/src/server/http/fuzz.test.ts',
  'packages/host/test/kit/host-bundle.test.ts',
];
/** Most tests of these projects start hosts. */
const globalSetup = ['packages/host/test/kit/host-bundle.ts'];
const exclude = ['**/node_modules/**', '**/dist/**', 'scripts/lint-fixtures/**'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      { extends: true, test: { name: 'alone', include: alone, exclude, globalSetup } },
      // The others leave nothing behind. They share workers, which load each module once: a third of the time.
      {
        extends: true,
        test: { name: 'first', include: first, exclude: [...exclude, ...alone], globalSetup, isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['packages/**/*.test.ts'],
          exclude: [...exclude, ...alone, ...first],
          isolate: false,
        },
      },
    ],
    globalSetup: ['packages/host/test/kit/temporary-folder.ts'],
    setupFiles: ['packages/host/test/kit/check-every-row.ts', 'packages/host/test/kit/quick-processes.ts'],
    testTimeout: 30_000,
    // As patient as the tests themselves: a condition that comes late on a slow machine is no failure.
    expect: { poll: { timeout: 25_000 } },
    // The first browser of a fresh checkout is unpacked in a hook, perhaps by two workers at once.
    hookTimeout: 60_000,
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.contract.ts', '**/*.kit.ts', '**/*.test-d.ts'],
      reporter: ['text-summary', 'html', 'json-summary'],
      thresholds: {
        'packages/protocol/src/**': { branches: 95, lines: 98 },
        'packages/host/src/log/**': { branches: 90, lines: 95 },
      },
    },
  },
});
