/** The verbs that serve. */
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
  const dev = cairn.command('dev').description('serve on this machine, with a generated key and workflows to try');
  withServeOptions(dev).action(async (flags: ServeFlags) => {
    const { dev } = await import('./dev.ts');
    await dev(terminal, { ...flags });
  });
  withExamples(
    dev,
    ['cairn dev', 'data and key in .cairn; the other verbs find it from this folder'],
    ['cairn dev --port 0', 'on any free port'],
  );
  const start = cairn.command('start').description('serve with a configuration file');
  withServeOptions(start)
    .option('-c, --config <file>', 'the configuration', 'cairn.json')
    .action(async ({ config, ...flags }: ServeFlags & { readonly config: string }) => {
      const { start } = await import('./start.ts');
      await start(terminal, config, { ...flags });
    });
  withExamples(
    start,
    ['cairn start', 'with ./cairn.json'],
    ['cairn start --config prod.json --port 8080', 'a flag wins over the file'],
    ['CAIRN_PORT=8080 cairn start', 'so does a variable: every key of the file has one'],
  ).addHelpText('after', SERVING);
}

function withServeOptions(command: Command): Command {
  return command
    .option('-p, --port <number>', 'the port; 0 takes a free one', wholeNumber('A port', 0, 65_535))
    .option('-b, --bind <address>', 'the address to serve on')
    .option('-d, --data <folder>', 'the folder of the database');
}

const SERVING = `
A configuration:
  { "data": "./data", "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "acme" }], "workflows": ["./workflows"] }

Once it serves, stdout gets one line, "cairn ready http://ADDRESS:PORT"; everything else goes to stderr.
Ctrl-C stops it cleanly, a second Ctrl-C at once.`;
