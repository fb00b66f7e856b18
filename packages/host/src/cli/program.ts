/** Assembles the verbs of the command line and reports failures. */
import { Command, CommanderError } from 'commander';
import { exit } from './exit.ts';
import { filtered } from './filtered-terminal.ts';
import { commandIn } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { addHostVerbs } from './verbs-hosts.ts';
import { addOfflineVerbs } from './verbs-offline.ts';
import { addPackVerbs } from './verbs-packs.ts';
import { addRunVerbs } from './verbs-runs.ts';
import { addServeVerbs } from './verbs-serve.ts';

export async function program(process: Terminal): Promise<void> {
  const terminal = filtered(process);
  const cairn = cairnCommand(terminal);
  try {
    await cairn.parseAsync(helpAsked(terminal.argv));
  } catch (error) {
    terminal.exit(await tellFailure(terminal, error));
  }
}

/** Many programs have `help VERB`, so people type it. */
const helpAsked = ([node = '', file = '', verb, ...rest]: readonly string[]): string[] =>
  verb === 'help' ? [node, file, ...rest, '--help'] : [node, file, ...(verb === undefined ? [] : [verb]), ...rest];

/** Each verb loads its code when it runs, so `--help` and `--version` are fast. */
export function cairnCommand(terminal: Terminal): Command {
  const cairn = new Command('cairn')
    .description('A self-hosted host for multi-agent runs with a durable event log.')
    .version(terminal.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      // With --json, `tellFailure` prints it as data.
      writeErr: (text) => {
        if (!terminal.argv.includes('--json')) terminal.tell(text.trimEnd().replace(/^error: /, 'cairn: '));
      },
      getOutHelpWidth: () => Math.min(terminal.columns ?? 100, 120),
      getErrHelpWidth: () => Math.min(terminal.columns ?? 100, 120),
    })
    .showHelpAfterError(`  ${usageHint(terminal)}`)
    .addHelpText('after', NOTES);
  addServeVerbs(cairn, terminal);
  addRunVerbs(cairn, terminal);
  addPackVerbs(cairn, terminal);
  addHostVerbs(cairn, terminal);
  addOfflineVerbs(cairn, terminal);
  return cairn;
}

const usageHint = ({ env }: Terminal): string =>
  `"${commandIn(env)} --help" lists every command, "${commandIn(env)} COMMAND --help" shows examples.`;

/** Prints the message and the hint, or the stack of an unexpected error. Returns the exit code. */
async function tellFailure(terminal: Terminal, thrown: unknown): Promise<number> {
  const isJson = terminal.argv.includes('--json');
  if (thrown instanceof CommanderError && (thrown.exitCode === 0 || !isJson))
    return thrown.exitCode === 0 ? exit.ok : exit.usage;
  const { exitOfCode, isCairnError, toEnvelope } = await import('@cairn/protocol');
  const { systemError } = await import('./system-error.ts');
  const { usageError } = await import('./usage-error.ts');
  const error =
    thrown instanceof CommanderError
      ? usageError(thrown.message.replace(/^error: /, ''), usageHint(terminal))
      : (systemError(thrown) ?? thrown);
  if (!isCairnError(error)) {
    terminal.tell(`cairn: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return exit.failed;
  }
  const { jsonLine, safe, styleOf } = await import('./render/style.ts');
  const { dim, cairn } = styleOf(terminal.colours.err, terminal.env);
  if (isJson) terminal.tell(jsonLine(toEnvelope(error)));
  else {
    terminal.tell(`cairn: ${safe(error.message)}`);
    const { commandHint } = await import('./command-hint.ts');
    // Hints quote commands.
    if (error.hint !== undefined)
      terminal.tell(`  ${safe(commandHint(error.hint, error.details).replaceAll('"cairn ', `"${cairn} `))}`);
    // For wrong usage and wrong names, the message says all that the page says.
    if (error.code !== 'validation_error' && error.code !== 'not_found')
      terminal.tell(dim(`  ${cairn} explain ${safe(error.code)}`));
  }
  return exitOfCode(error.code);
}

const NOTES = `
Get started:
  cairn dev                              start a development host with a key and sample workflows
  cairn run hello --input name=Ada       in a second terminal, in the same folder

How a command finds its host, in this order:
  1. the options --url and --key
  2. the variables CAIRN_URL and CAIRN_KEY
  3. a "cairn dev" that runs in this folder or in a parent folder
  4. cairn.json in this folder or in a parent folder

Output: results go to stdout, everything else to stderr. --json prints the result as JSON.
Exit codes: 0 success, 1 the run failed, 2 wrong usage, 3 not found, 4 refused, 5 the run waits for a person, 130 Ctrl-C.`;
