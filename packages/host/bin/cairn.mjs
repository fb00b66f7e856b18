#!/usr/bin/env node
/** Starts the command line: from the sources in a checkout, from the build in an installed package. */
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { compileCacheFolder } from './compile-cache.mjs';
import { missingHeapFlags, startsHost } from './heap.mjs';
import { releasePooledPages } from './pooled-pages.mjs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 16)) {
  // The platforms for which npm has a Node that is new enough; a project lists their packages.
  const offered = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];
  const here = `${process.platform}-${process.arch}`;
  const hint = offered.includes(here)
    ? 'In a project or a checkout, "npx cairn" and npm scripts use the Node that npm installed there.'
    : `npm has no newer Node for ${here}. Install one from nodejs.org.`;
  process.stderr.write(`cairn needs Node 24.16 or newer; this is ${process.version}. ${hint}\n`);
  process.exit(1);
}

const heapFlags = missingHeapFlags();
// Node takes these flags only at its start. Windows cannot replace a process, and a parent's channel would be lost.
if (heapFlags.length > 0 && process.platform !== 'win32' && process.channel === undefined) {
  process.execve(
    process.execPath,
    [process.execPath, ...heapFlags, ...process.execArgv, ...process.argv.slice(1)],
    process.env,
  );
}

if (startsHost()) releasePooledPages();

const cache = compileCacheFolder();
if (cache !== null) nodeModule.enableCompileCache(cache);

const source = new URL('../src/cli/main.ts', import.meta.url);
if (existsSync(source)) {
  // The packages of this repository offer their sources under a condition of their own.
  nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...(context.conditions ?? []), '@cairn/source'] }),
  });
  await import(source.href);
} else {
  await import(new URL('../dist/cli/main.js', import.meta.url).href);
}
