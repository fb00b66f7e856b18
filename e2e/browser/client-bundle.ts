/**
 * The client as a web application ships it: one script, bundled and minified by vite, that sets
 * `globalThis.cairnClient`.
 */
import { resolve } from 'node:path';
import { build } from 'vite';

/** `mode`: which React is in it, if any. Its development build mounts components twice in strict mode. */
export async function bundleClient(entry = 'index.ts', mode = 'production'): Promise<string> {
  const built = await build({
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['@cairn/source', 'module', 'browser', 'production'] },
    build: {
      write: false,
      minify: true,
      lib: {
        entry: resolve(import.meta.dirname, '../../packages/client/src', entry),
        name: 'cairnClient',
        formats: ['iife'],
      },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const chunk = output !== undefined && 'output' in output ? output.output[0] : undefined;
  if (chunk === undefined) throw new Error('vite built nothing.');
  return chunk.code;
}
