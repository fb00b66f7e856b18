/** Verbs that start a host. */
import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';
import { wholeNumber, withExamples } from './verb.ts';

interface ServeFlags {
  readonly port?: number;
  readonly bind?: string;
  readonly data?: string;
}

export function addServeVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Serve:');
  const dev = cairn.command('dev').description('start a development host with a generated key and sample workflows');
  withServeOptions(dev).action(async (flags: ServeFlags) => {
    const { dev } = await import('./dev.ts');
    await dev(terminal, { ...flags });
  });
  withExamples(
    dev,
    ['cairn dev', 'data and key in .cairn; other commands find the host from this folder'],
    ['cairn dev --port 0', 'use any free port'],
  );
  const start = cairn.command('start').description('start a host with a configuration file');
  withServeOptions(start)
    .option('-c, --config <file>', 'configuration file', 'cairn.json')
    .action(async ({ config, ...flags }: ServeFlags & { readonly config: string }) => {
      const { start } = await import('./start.ts');
      await start(terminal, config, { ...flags });
    });
  withExamples(
    start,
    ['cairn start', 'use ./cairn.json'],
    ['cairn start --config prod.json --port 8080', 'options override the file'],
    ['CAIRN_PORT=8080 cairn start', 'so do variables: every key of the file has one'],
  ).addHelpText('after', SERVING);
}

function withServeOptions(command: Command): Command {
  return command
    .option('-p, --port <number>', 'port; 0 chooses a free port', wholeNumber('The port', 0, 65_535))
    .option('-b, --bind <address>', 'address to listen on')
    .option('-d, --data <folder>', 'folder of the database');
}

const SERVING = `
A minimal configuration:
  { "data": "./data", "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "acme" }], "workflows": ["./workflows"] }

When the host is ready, it prints one line to stdout: "cairn ready http://ADDRESS:PORT". Everything else goes to stderr.
Ctrl-C stops the host cleanly. A second Ctrl-C ends the process at once.`;
