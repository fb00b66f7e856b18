/** The page of the chat example, built once: it loads as one file, while the server of the example sends every module by itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, preview } from 'vite';
import { page, passedOn, type Served, type ServeOptions } from '../../examples/chat/serve.ts';

export async function serveBuiltChat(options: ServeOptions): Promise<Served> {
  const outDir = mkdtempSync(join(tmpdir(), 'cairn-built-chat-'));
  // As the server of the example has it: the development build of React mounts components twice.
  const define = { 'process.env.NODE_ENV': '"development"' };
  await build({ ...page, mode: 'development', define, build: { outDir, emptyOutDir: true, minify: false } });
  const server = await preview({ ...page, build: { outDir }, preview: passedOn(options) });
  return {
    url: `http://127.0.0.1:${options.port}`,
    async close() {
      await server.close();
      rmSync(outDir, { recursive: true, force: true });
    },
  };
}
