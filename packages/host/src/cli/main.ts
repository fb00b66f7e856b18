/** Entry point of the `cairn` command: makes this process a `Terminal` and runs the program. */
import { readFileSync } from 'node:fs';
import { program } from './program.ts';
import { fieldsOf } from './render/fields.ts';
import type { Terminal } from './terminal.ts';

const packageFile = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

const { stdin, stdout, stderr, env } = process;

/** Any value of NO_COLOR disables colours. */
const shows = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';

// A reader such as `| head` may close the pipe early. That is not an error; a result that a full disk cuts off is one.
stderr.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  stderr.write(`cairn: The output cannot be written: ${error.message}.\n`, () => process.exit(1));
});

const terminal: Terminal = {
  version: String(fieldsOf(JSON.parse(packageFile)).version),
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
  redraw: (line) => stderr.write(`\r\u001b[2K${line}`),
  async ask(question, signal) {
    const { createInterface } = await import('node:readline/promises');
    const lines = createInterface({ input: stdin, output: stderr });
    // While readline reads a line, it receives Ctrl-C instead of the process.
    // Handlers are called directly: on Windows, a process that sends itself a signal ends at once.
    lines.once('SIGINT', () => process.emit('SIGINT') || process.kill(process.pid, 'SIGINT'));
    const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
    try {
      return await Promise.race([lines.question(question, { signal }), closed]);
    } finally {
      lines.close();
    }
  },
  // Flush both streams before the process ends, because pipes may be slow. An error of stdout has ended it before.
  exit: (code) => stdout.write('', () => setImmediate(() => stderr.write('', () => process.exit(code)))),
  onSignal: (handle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, handle);
  },
  onRejection: (handle) => {
    process.on('unhandledRejection', handle);
    return () => void process.off('unhandledRejection', handle);
  },
};

await program(terminal);
