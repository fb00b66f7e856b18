import { defineConfig } from 'vitest/config';

const conditions = ['@cairn/source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/**/*.test.ts', 'e2e/**/*.test.ts', 'bench/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', 'scripts/lint-fixtures/**'],
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
