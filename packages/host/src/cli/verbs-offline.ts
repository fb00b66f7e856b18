/** Verbs that need no host: they read a data folder or a file. */
import { Argument, type Command, Option } from 'commander';
import type { BackupFlags, RestoreFlags } from './backup.ts';
import type { CheckpointFlags } from './checkpoint.ts';
import { completionScript, type Shell, shells } from './completion.ts';
import type { DoctorFlags } from './doctor.ts';
import type { ExplainFlags } from './explain.ts';
import type { ExportFlags } from './export.ts';
import type { ImportFlags } from './import.ts';
import type { KeyFlags } from './key.ts';
import type { ReplayFlags } from './replay.ts';
import type { Terminal } from './terminal.ts';
import { exitWith, withExamples } from './verb.ts';
import type { VerifyFlags } from './verify/verify.ts';

export function addOfflineVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Without a host:');
  addVerify(cairn, terminal);
  addReplay(cairn, terminal);
  addCheckpoint(cairn, terminal);
  addBundles(cairn, terminal);
  addDoctor(cairn, terminal);
  addBackup(cairn, terminal);
  addKey(cairn, terminal);
  addExplain(cairn, terminal);
  addCompletion(cairn, terminal);
}

function addExplain(cairn: Command, terminal: Terminal): void {
  const explain = cairn
    .command('explain [code]')
    .description('explain an error code, or list all codes')
    .option('--json', 'print JSON')
    .action((code: string | undefined, flags: ExplainFlags) =>
      exitWith(terminal, async () => (await import('./explain.ts')).explain(terminal, code, flags)),
    );
  withExamples(
    explain,
    ['cairn explain interrupt_expired', 'what happened, why, and what to do'],
    ['cairn explain', 'list all codes'],
  );
}

function addCompletion(cairn: Command, terminal: Terminal): void {
  const completion = cairn
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addOption(new Option('--words <kind>', 'for the scripts: print the words of a kind').hideHelp())
    .action(async (shell: Shell, { words }: { readonly words?: string }) => {
      if (words === undefined) terminal.print(completionScript(cairn, shell).trimEnd());
      else await exitWith(terminal, async () => (await import('./completion-words.ts')).printWords(terminal, words));
    });
  withExamples(
    completion,
    ['eval "$(cairn completion bash)"', 'add this to ~/.bashrc'],
    ['eval "$(cairn completion zsh)"', 'add this to ~/.zshrc, after compinit'],
    ['cairn completion fish | source', 'add this to config.fish'],
  );
}

const withDataOptions = (command: Command): Command => withStoreOptions(command).option('--json', 'print JSON');

/** Where the data is, if not in the folder or the configuration here. */
const withStoreOptions = (command: Command): Command =>
  command
    .option('-d, --data <folder>', 'data folder')
    .option('-s, --store <url>', 'PostgreSQL database; default: CAIRN_STORE, or "store" of the configuration');

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function addVerify(cairn: Command, terminal: Terminal): void {
  const verify = withDataOptions(
    cairn
      .command('verify [run|bundle|backup|folder]')
      .description('check every event, hash and table of a run, a bundle, a backup or a store; default: all runs'),
  )
    .option('--against <file>', 'a signed checkpoint that the runs must agree with')
    .option('--key <key>', 'public key whose checkpoints count; default: those of the host', collected)
    .option('-c, --config <file>', 'configuration with the master key; default: cairn.json, if it exists')
    .action((name: string | undefined, flags: VerifyFlags) =>
      exitWith(terminal, async () => (await import('./verify/verify.ts')).verify(terminal, name, flags)),
    );
  withExamples(
    verify,
    ['cairn verify RUN', 'a run in the data folder, even while a host runs'],
    ['cairn verify run.cairn.jsonl', 'a bundle from any host'],
    ['cairn verify monday.cairn', 'a backup, as a restore would check it and more'],
    ['cairn verify --data ./data --against checkpoint.jsonl', 'all runs, and none was cut or replaced since then'],
  );
}

function addCheckpoint(cairn: Command, terminal: Terminal): void {
  const checkpoint = withStoreOptions(
    cairn
      .command('checkpoint [runs...]')
      .description('print a signed statement of the last event of runs, to keep elsewhere'),
  )
    .option('-c, --config <file>', 'configuration with the master key; default: cairn.json, if it exists')
    .option('--all', 'all runs of the store')
    .option('-o, --output <file>', 'output file; default: stdout')
    .option('--force', 'overwrite an existing file')
    .action((runs: readonly string[], flags: CheckpointFlags) =>
      exitWith(terminal, async () => (await import('./checkpoint.ts')).checkpoint(terminal, runs, flags)),
    );
  withExamples(
    checkpoint,
    ['cairn checkpoint --all -o checkpoint.jsonl', 'keep the file on another machine'],
    ['cairn checkpoint RUN > run.checkpoint.jsonl', 'hand it out with a bundle of the run'],
  );
}

function addReplay(cairn: Command, terminal: Terminal): void {
  const replay = withDataOptions(
    cairn
      .command('replay [run|bundle|folder...]')
      .description('decide recorded runs again with this version, and stop at the first difference; default: all runs'),
  ).action((names: string[], flags: ReplayFlags) =>
    exitWith(terminal, async () => (await import('./replay.ts')).replay(terminal, names, flags)),
  );
  withExamples(
    replay,
    ['cairn replay RUN', 'a run in the data folder and the runs below it, even while a host runs'],
    ['cairn replay runs/', 'the bundles of a folder, in continuous integration; exits with 1 at a difference'],
    ['cairn replay --data ./data', 'all runs of a data folder, before this version serves it'],
  );
}

function addBundles(cairn: Command, terminal: Terminal): void {
  const exporting = withDataOptions(
    cairn.command('export <run>').description('write a run and the runs below it to a bundle file'),
  )
    .option('-o, --output <file>', 'output file; default: RUN.cairn.jsonl')
    .option('--force', 'overwrite an existing file')
    .option('--no-children', 'leave out the runs below it')
    .action((runId: string, flags: ExportFlags) =>
      exitWith(terminal, async () => (await import('./export.ts')).exportRun(terminal, runId, flags)),
    );
  withExamples(
    exporting,
    ['cairn export RUN -o order.cairn.jsonl', 'works while a host runs'],
    ['cairn export RUN --no-children', 'the run alone'],
  );
  const importing = withDataOptions(
    cairn.command('import <bundle>').description('add the runs of a bundle to a store, read-only'),
  )
    .option('--tenant <tenant>', 'tenant that gets the run; default: the only tenant in the store')
    .action((file: string, flags: ImportFlags) =>
      exitWith(terminal, async () => (await import('./import.ts')).importRun(terminal, file, flags)),
    );
  withExamples(
    importing,
    ['cairn import order.cairn.jsonl', 'stop the host first; the imported run is read-only'],
    [
      'cairn import order.cairn.jsonl --data /tmp/look',
      'into a separate folder; open it with: cairn dev --data /tmp/look',
    ],
  );
}

function addDoctor(cairn: Command, terminal: Terminal): void {
  const doctor = withDataOptions(cairn.command('doctor').description('find problems that prevent a host from working'))
    .option('-c, --config <file>', 'configuration to check; default: cairn.json, if it exists')
    .option('--rebuild', 'rebuild the run list and the task view from the events; stop the host first')
    .option('--compact', 'rewrite the database without free space; stop the host first')
    .action((flags: DoctorFlags) =>
      exitWith(terminal, async () => (await import('./doctor.ts')).doctor(terminal, flags)),
    );
  withExamples(
    doctor,
    ['cairn doctor', 'check the configuration and the data folder here'],
    ['cairn doctor --data ./data --rebuild', 'repair a damaged index'],
    ['cairn doctor --data ./data --compact', 'give free space back to the disk'],
  );
}

function addBackup(cairn: Command, terminal: Terminal): void {
  const backup = withDataOptions(
    cairn.command('backup <file>').description('copy the data of a host into one file, also while it runs'),
  )
    .option('--include-key', 'include host.key: anyone with the file can open sealed values')
    .action((file: string, flags: BackupFlags) =>
      exitWith(terminal, async () => (await import('./backup.ts')).backup(terminal, file, flags)),
    );
  withExamples(
    backup,
    ['cairn backup monday.cairn', 'all runs, workflows and packs, and the files of runs'],
    ['cairn backup monday.cairn --data ./data', 'of this data folder'],
    ['CAIRN_STORE=postgres://cairn:…@db/cairn cairn backup monday.cairn', 'of this database'],
  );
  const restore = cairn
    .command('restore <file>')
    .description('check a backup and make a new data folder of it, or fill an empty database with it')
    .option('--data <folder>', 'the new data folder; it must not exist')
    .option('--store <url>', 'an empty PostgreSQL database')
    .option('--json', 'print JSON')
    .action((file: string, flags: RestoreFlags) =>
      exitWith(terminal, async () => (await import('./backup.ts')).restore(terminal, file, flags)),
    );
  withExamples(
    restore,
    ['cairn restore monday.cairn --data ./restored', 'then start a host with "data": "./restored"'],
    ['cairn restore monday.cairn --store postgres://cairn@db/cairn', 'a backup of a data folder or of a database'],
  );
}

function addKey(cairn: Command, terminal: Terminal): void {
  const key = cairn
    .command('key')
    .description('print a new random key of 256 bits, for a caller or as a secret')
    .option('--json', 'print JSON')
    .action((flags: KeyFlags) => exitWith(terminal, async () => (await import('./key.ts')).makeKey(terminal, flags)));
  withExamples(
    key,
    ['cairn key', 'the key on stdout, its hash for cairn.json on stderr'],
    ['export CAIRN_KEY=$(cairn key)', 'for { "keyEnv": "CAIRN_KEY" } in cairn.json'],
    ['(umask 077 && cairn key > master.key)', 'for { "masterKey": { "file": "master.key" } }'],
  );
}
