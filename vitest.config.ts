import { defineConfig } from 'vitest/config';

const conditions = ['@cairn/source'];

/** Tests that start processes, replace modules, or measure the memory of their own process. */
const alone = [
  '{e2e,bench,scripts}/**/*.test.ts',
  'packages/host/src/cli/**/*.test.ts',
  'packages/host/src/log/sqlite/broken-disk.test.ts',
  'packages/host/src/server/http/fuzz.test.ts',
];
const exclude = ['**/node_modules/**', '**/dist/**', 'scripts/lint-fixtures/**'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      // The others leave nothing behind. They share workers, which load each module once: a third of the time.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['packages/**/*.test.ts'],
          exclude: [...exclude, ...alone],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: alone, exclude } },
    ],
    setupFiles: ['packages/host/test/kit/check-every-row.ts'],
    testTimeout: 30_000,
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
