/** Verbs that start a host. */
import type { Command } from 'commander';
import { peopleOf } from './app/dev-people.ts';
import type { DevFlags } from './dev.ts';
import type { InitFlags } from './init/init.ts';
import type { MigrateFlags } from './migrate.ts';
import type { MoveFlags } from './move.ts';
import type { Terminal } from './terminal.ts';
import { exitWith, wholeNumber, withExamples } from './verb.ts';

interface ServeFlags {
  readonly port?: number;
  readonly bind?: string;
  readonly data?: string;
  readonly store?: string;
}

export function addServeVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Serve:');
  const dev = cairn
    .command('dev [file]')
    .description('start a development host with your app, or with sample workflows')
    .option('--people <names>', 'people who can answer, each with a key of their own: ada,ben', peopleOf)
    .option('--model <name>', 'model of the agents, such as openai/gpt-5; its key is in OPENAI_API_KEY')
    .option('--model-url <address>', 'address of the model, if its server speaks the OpenAI API')
    .option('--no-demo', 'start no demo runs in a new folder');
  withServeOptions(dev).action(async (file: string | undefined, flags: DevFlags) => {
    const { dev } = await import('./dev.ts');
    await dev(terminal, file, flags);
  });
  withExamples(
    dev,
    ['cairn dev app.ts', 'run what app.ts defines; load it again after each change'],
    ['cairn dev app.ts --people ada,ben', 'then "cairn answer RUN accept --as ada" votes as Ada'],
    ['cairn dev', 'run the samples; data and key are in .cairn, where other commands find the host'],
    ['cairn dev --model openai/gpt-5', 'agents ask a model; without one they follow scripts'],
    ['cairn dev --port 0', 'use any free port'],
  ).addHelpText('after', APP);
  const init = cairn
    .command('init <name>')
    .description('write a small project: an app, a test, a package.json')
    .option('--packages <folder>', 'folder with tarballs of the Cairn packages; default: dist/packages of the checkout')
    .option('--json', 'print JSON')
    .action((name: string, flags: InitFlags) =>
      exitWith(terminal, async () => (await import('./init/init.ts')).init(terminal, name, flags)),
    );
  withExamples(
    init,
    ['cairn init ~/my-app', 'a folder outside the checkout; it must be new or empty'],
    ['cairn init my-app --packages ~/cairn-packages', 'with packages that somebody made with "npm run pack:local"'],
  );
  const start = cairn.command('start').description('start a host with a configuration file');
  withServeOptions(start)
    .option('-s, --store <url>', 'PostgreSQL database for one node or many: postgres://user@host/database')
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
    [
      'CAIRN_STORE=postgres://cairn:…@db/cairn cairn start',
      'one of many nodes; prepare the database with "cairn migrate"',
    ],
  ).addHelpText('after', SERVING);
  addMigrate(cairn, terminal);
  addMove(cairn, terminal);
}

function addMigrate(cairn: Command, terminal: Terminal): void {
  const migrate = cairn
    .command('migrate')
    .description('prepare a PostgreSQL database for this version')
    .option('-s, --store <url>', 'the database; default: CAIRN_STORE, or "store" of the configuration file')
    .option('-c, --config <file>', 'configuration file', 'cairn.json')
    .option('--json', 'print JSON')
    .action((flags: MigrateFlags) =>
      exitWith(terminal, async () => (await import('./migrate.ts')).migrate(terminal, flags)),
    );
  withExamples(
    migrate,
    ['cairn migrate --store postgres://cairn@db.example.org/cairn', 'PGPASSWORD may hold the password'],
    ['CAIRN_STORE=postgres://cairn:…@db/cairn cairn migrate', 'before nodes of a new version start'],
  );
}

function addMove(cairn: Command, terminal: Terminal): void {
  const move = cairn
    .command('move')
    .description('move the data of a stopped host from its data folder into a PostgreSQL database')
    .option('--from <folder>', 'data folder; default: the one here')
    .option('--to <url>', 'an empty PostgreSQL database; default: CAIRN_STORE')
    .option('--json', 'print JSON')
    .action((flags: MoveFlags) => exitWith(terminal, async () => (await import('./move.ts')).move(terminal, flags)));
  withExamples(
    move,
    ['cairn move --from ./data --to postgres://cairn@db.example.org/cairn', 'PGPASSWORD may hold the password'],
    ['CAIRN_STORE=postgres://cairn:…@db/cairn cairn move --from ./data', 'run it again to go on after a stop'],
  );
}

function withServeOptions(command: Command): Command {
  return command
    .option('-p, --port <number>', 'port; 0 chooses a free port', wholeNumber('The port', 0, 65_535))
    .option('-b, --bind <address>', 'address to listen on')
    .option('-d, --data <folder>', 'folder of the database');
}

const APP = `
The file exports what it defines:
  import { defineApp } from '@cairn/host';
  export default defineApp({ tools: [], agents: [], steps: [], workflows: [] });

Runs keep the workflow and the agents they started with; calls of tools and steps use the newest code.
A file that cannot be loaded changes nothing: the last good version stays in use. "cairn init" writes a new project.`;

const SERVING = `
A minimal configuration:
  { "data": "./data", "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "acme" }], "workflows": ["./workflows"] }

When the host is ready, it prints one line to stdout: "cairn ready http://ADDRESS:PORT". Everything else goes to stderr.
Ctrl-C stops the host cleanly. A second Ctrl-C ends the process at once.`;
