/** The `cairn` command. */
import { program } from './program.ts';

await program({
  argv: process.argv,
  env: process.env,
  print: (line) => process.stdout.write(`${line}\n`),
  tell: (line) => process.stderr.write(`${line}\n`),
  exit: (code) => process.exit(code),
  onSignal: (handle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, handle);
  },
});
