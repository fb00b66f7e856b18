/** `cairn start`: serve what the configuration says. */
import { readConfig } from '../server/config-sources.ts';
import { serve } from './serve.ts';
import type { Terminal } from './terminal.ts';

export async function start(terminal: Terminal, file: string, flags: Readonly<Record<string, unknown>>): Promise<void> {
  await serve(terminal, await readConfig({ file, env: terminal.env, flags }));
}
