/** The command line: which verbs there are, and how a failure is told. */
import { Command, CommanderError } from 'commander';
import { exit } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { addOfflineVerbs } from './verbs-offline.ts';
import { addPackVerbs } from './verbs-packs.ts';
import { addRunVerbs } from './verbs-runs.ts';
import { addServeVerbs } from './verbs-serve.ts';

export async function program(terminal: Terminal): Promise<void> {
  const cairn = cairnCommand(terminal);
  try {
    await cairn.parseAsync(terminal.argv);
  } catch (error) {
    terminal.exit(await tellFailure(terminal, error));
  }
}

/** Verbs load what they need when they run: help and version answer at once. */
export function cairnCommand(terminal: Terminal): Command {
  const cairn = new Command('cairn')
    .description(
      'A host for multi-agent runs: every event is kept, every run can be followed, every answer counts once.',
    )
    .version(terminal.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.tell(text.trimEnd().replace(/^error: /, 'cairn: ')),
      getOutHelpWidth: () => Math.min(terminal.columns ?? 100, 120),
      getErrHelpWidth: () => Math.min(terminal.columns ?? 100, 120),
    })
    .showHelpAfterError('  cairn --help lists every verb, cairn VERB --help shows examples.')
    .addHelpText('after', NOTES);
  addServeVerbs(cairn, terminal);
  addRunVerbs(cairn, terminal);
  addPackVerbs(cairn, terminal);
  addOfflineVerbs(cairn, terminal);
  return cairn;
}

/** Message, then what to do about it; the stack only of what nobody foresaw. Gives the exit code. */
async function tellFailure(terminal: Terminal, error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage;
  const { exitOfCode, isCairnError, toEnvelope } = await import('@cairn/protocol');
  if (!isCairnError(error)) {
    terminal.tell(`cairn: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return exit.failed;
  }
  const { jsonLine, safe } = await import('./render/style.ts');
  if (terminal.argv.includes('--json')) terminal.tell(jsonLine(toEnvelope(error)));
  else {
    terminal.tell(`cairn: ${safe(error.message)}`);
    if (error.hint !== undefined) terminal.tell(`  ${safe(error.hint)}`);
  }
  return exitOfCode(error.code);
}

const NOTES = `
A first run:
  cairn dev                              in one terminal: a host, a key, workflows to try
  cairn run hello --input name=Ada       in another, in the same folder

Which host:
  --url and --key, else CAIRN_URL and CAIRN_KEY, else the "cairn dev" that runs in this folder or above it, else cairn.json.

Exit codes: 0 fine, 1 the run failed, 2 usage, 3 not found, 4 refused, 5 the run waits for a person, 130 Ctrl-C.
stdout has the result, stderr everything else; --json makes the result JSON.`;
