/** The `cairn` command. */
import { readFileSync } from 'node:fs';
import { program } from './program.ts';

const packageFile = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

await program({
  version: (JSON.parse(packageFile) as { readonly version: string }).version,
  argv: process.argv,
  env: process.env,
  print: (line) => process.stdout.write(`${line}\n`),
  tell: (line) => process.stderr.write(`${line}\n`),
  exit: (code) => process.exit(code),
  onSignal: (handle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, handle);
  },
});
