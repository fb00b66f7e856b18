/** Builds Studio into the host's package, which serves it at `/`. */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { onlyOne } from './only-one.ts';

const studio = join(import.meta.dirname, '..');
const packages = join(studio, '..');

/** Where the host looks for the files. */
export const studioFolder = join(packages, 'host/dist/studio');

/** What the built files are made of. */
const sources = [
  'studio/index.html',
  'studio/src',
  'studio/build',
  'client/src',
  'protocol/src',
  '../package-lock.json',
];

/** A reader of the folder finds the files before or after, never a part of them. */
export async function buildStudio(): Promise<void> {
  const own = `${studioFolder}-${process.pid}`;
  const { NODE_ENV } = process.env;
  // The environment of a test would bring the development build of React.
  process.env.NODE_ENV = 'production';
  try {
    await build({
      configFile: false,
      root: studio,
      logLevel: 'warn',
      mode: 'production',
      plugins: [react()],
      // This repository runs from its sources.
      resolve: { conditions: ['@cairn/source', 'module', 'browser', 'production'] },
      build: {
        outDir: own,
        emptyOutDir: true,
        // The policy of the page allows no data: address but for images.
        assetsInlineLimit: 0,
        target: 'es2022',
        modulePreload: { polyfill: false },
      },
    });
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
  rmSync(studioFolder, { recursive: true, force: true });
  renameSync(own, studioFolder);
}

/** Builds unless the files are newer than everything that they are made of. Of several processes, one builds. */
export async function buildStaleStudio(): Promise<void> {
  if (!isStale()) return;
  await onlyOne(`${studioFolder}.lock`, async () => {
    if (isStale()) await buildStudio();
  });
}

function isStale(): boolean {
  const page = join(studioFolder, 'index.html');
  const builtAt = existsSync(page) ? statSync(page).mtimeMs : 0;
  return sources.some((source) => changedAt(join(packages, source)) > builtAt);
}

function changedAt(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}
