/** The command line: which commands there are, and how a failure is told. */
import { exitOfCode, isCairnError } from '@cairn/protocol';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Terminal } from './terminal.ts';

export async function program(terminal: Terminal): Promise<void> {
  const cairn = new Command('cairn')
    .description(
      'A host for multi-agent runs: every event is kept, every run can be followed, every answer counts once.',
    )
    .version(terminal.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.tell(text.trimEnd()),
    })
    .addHelpText('after', EXAMPLES);
  // Commands load what they need when they run: help and version answer at once.
  withServeOptions(cairn.command('start').description('serve with a configuration file'))
    .option('-c, --config <file>', 'the configuration', 'cairn.json')
    .action(async ({ config, ...flags }: StartFlags) => {
      const { start } = await import('./start.ts');
      await start(terminal, config, { ...flags });
    });
  withServeOptions(
    cairn.command('dev').description('serve on this machine, with a generated key and a workflow to try'),
  ).action(async (flags: ServeFlags) => {
    const { dev } = await import('./dev.ts');
    await dev(terminal, { ...flags });
  });
  try {
    await cairn.parseAsync(terminal.argv);
  } catch (error) {
    terminal.exit(tellFailure(terminal, error));
  }
}

interface ServeFlags {
  readonly port?: number;
  readonly bind?: string;
  readonly data?: string;
}

interface StartFlags extends ServeFlags {
  readonly config: string;
}

/** The options of every command that serves. */
function withServeOptions(command: Command): Command {
  return command
    .option('-p, --port <number>', 'the port; 0 takes a free one', portNumber)
    .option('-b, --bind <address>', 'the address to serve on')
    .option('-d, --data <folder>', 'the folder of the database');
}

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
}

/** Message, then what to do about it; the stack only of what nobody foresaw. Gives the exit code. */
function tellFailure(terminal: Terminal, error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (isCairnError(error)) {
    terminal.tell(`cairn: ${error.message}`);
    if (error.hint !== undefined) terminal.tell(`  ${error.hint}`);
    return exitOfCode(error.code);
  }
  terminal.tell(`cairn: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}

const EXAMPLES = `
Examples:
  cairn dev                              try it: data in .cairn, the key is printed
  cairn dev --port 0                     the same on a free port
  cairn start --config cairn.json        serve what the configuration says
  CAIRN_PORT=8080 cairn start            every key of the configuration is a variable, too

A configuration:
  { "data": "./data", "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "acme" }], "workflows": ["./workflows"] }

Once it serves, stdout gets one line, "cairn ready http://ADDRESS:PORT"; everything else goes to stderr.
Ctrl-C stops it cleanly, a second Ctrl-C at once.`;
