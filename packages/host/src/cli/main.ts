/** The `cairn` command: this process as a terminal. */
import { readFileSync } from 'node:fs';
import { program } from './program.ts';
import type { Terminal } from './terminal.ts';

const packageFile = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

const { stdin, stdout, stderr, env } = process;

/** NO_COLOR, when it says anything, means none. */
const shows = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';

// Whoever reads our output may have read enough, as `| head` does: then there is nothing left to do, and nothing to say.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
}

const terminal: Terminal = {
  version: (JSON.parse(packageFile) as { readonly version: string }).version,
  argv: process.argv,
  env,
  cwd: process.cwd(),
  columns: stdout.isTTY ? (stdout.columns ?? 80) : null,
  colours: { out: shows(stdout), err: shows(stderr) },
  isInteractive: stdin.isTTY === true && stderr.isTTY === true,
  now: () => Date.now(),
  print: (line) => stdout.write(`${line}\n`),
  tell: (line) => stderr.write(`${line}\n`),
  part: (stream, text) => (stream === 'out' ? stdout : stderr).write(text),
  async ask(question, signal) {
    const { createInterface } = await import('node:readline/promises');
    const lines = createInterface({ input: stdin, output: stderr });
    // While a line is read, Ctrl-C comes to the reader of lines and not to the process.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
    try {
      return await Promise.race([lines.question(question, { signal }), closed]);
    } finally {
      lines.close();
    }
  },
  // What was printed is out before the process ends, also where pipes are slow.
  exit: (code) => stdout.write('', () => stderr.write('', () => process.exit(code))),
  onSignal: (handle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, handle);
  },
};

await program(terminal);
