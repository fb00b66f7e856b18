/** A page of a vite project, built once: it loads as one file, while the server of vite sends every module by itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type InlineConfig, type PreviewOptions, preview } from 'vite';

export interface BuiltPage {
  close(): Promise<void>;
}

export async function serveBuilt(project: InlineConfig, options: PreviewOptions): Promise<BuiltPage> {
  const outDir = mkdtempSync(join(tmpdir(), 'cairn-built-page-'));
  // As the server of vite has it: the development build of React mounts components twice.
  const define = { 'process.env.NODE_ENV': '"development"' };
  await build({ ...project, mode: 'development', define, build: { outDir, emptyOutDir: true, minify: false } });
  const server = await preview({ ...project, build: { outDir }, preview: options });
  return {
    async close() {
      await server.close();
      rmSync(outDir, { recursive: true, force: true });
    },
  };
}
