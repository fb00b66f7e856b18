/** The verbs that need no host: they look into a data folder or a file. */
import { Argument, type Command } from 'commander';
import { completionScript, type Shell, shells } from './completion.ts';
import type { DoctorFlags } from './doctor.ts';
import type { ExportFlags } from './export.ts';
import type { ImportFlags } from './import.ts';
import type { Terminal } from './terminal.ts';
import { ends, withExamples } from './verb.ts';
import type { VerifyFlags } from './verify.ts';

export function addOfflineVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Without a host:');
  addVerify(cairn, terminal);
  addBundles(cairn, terminal);
  addDoctor(cairn, terminal);
  const completion = cairn
    .command('completion')
    .description('a script that lets your shell complete cairn')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => terminal.print(completionScript(cairn, shell).trimEnd()));
  withExamples(
    completion,
    ['eval "$(cairn completion bash)"', 'in ~/.bashrc'],
    ['eval "$(cairn completion zsh)"', 'in ~/.zshrc, after compinit'],
    ['cairn completion fish | source', 'in config.fish'],
  );
}

const withDataOptions = (command: Command): Command =>
  command.option('-d, --data <folder>', 'the data folder').option('--json', 'print JSON');

function addVerify(cairn: Command, terminal: Terminal): void {
  const verify = withDataOptions(
    cairn.command('verify <run|bundle>').description('check every hash of a run or bundle'),
  ).action((name: string, flags: VerifyFlags) =>
    ends(terminal, async () => (await import('./verify.ts')).verify(terminal, name, flags)),
  );
  withExamples(
    verify,
    ['cairn verify RUN', 'a run of the data folder here; a host may be running'],
    ['cairn verify run.cairn.jsonl', 'a bundle, from anywhere'],
  );
}

function addBundles(cairn: Command, terminal: Terminal): void {
  const exporting = withDataOptions(cairn.command('export <run>').description('write a run into one file, a bundle'))
    .option('-o, --output <file>', 'the file; default: the id of the run and .cairn.jsonl')
    .option('--force', 'write over a file that is there')
    .action((runId: string, flags: ExportFlags) =>
      ends(terminal, async () => (await import('./export.ts')).exportRun(terminal, runId, flags)),
    );
  withExamples(exporting, ['cairn export RUN -o order.cairn.jsonl', 'a host may be running']);
  const importing = withDataOptions(
    cairn.command('import <bundle>').description('take the run of a bundle in, to look at'),
  )
    .option('--tenant <tenant>', 'whose run it becomes; default: the only tenant there is')
    .action((file: string, flags: ImportFlags) =>
      ends(terminal, async () => (await import('./import.ts')).importRun(terminal, file, flags)),
    );
  withExamples(
    importing,
    ['cairn import order.cairn.jsonl', 'while no host runs; the run never goes on here'],
    ['cairn import order.cairn.jsonl --data /tmp/look', 'into a folder of its own: cairn dev --data /tmp/look'],
  );
}

function addDoctor(cairn: Command, terminal: Terminal): void {
  const doctor = withDataOptions(cairn.command('doctor').description('look for what keeps a host from working'))
    .option('-c, --config <file>', 'the configuration to check; default: cairn.json, if there is one')
    .option('--rebuild', 'make the run list again from the events; no host may be running')
    .action((flags: DoctorFlags) => ends(terminal, async () => (await import('./doctor.ts')).doctor(terminal, flags)));
  withExamples(doctor, ['cairn doctor', ''], ['cairn doctor --data ./data --rebuild', 'after a damaged index']);
}
