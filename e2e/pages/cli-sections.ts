/** The prose of the command-line page for each verb, and the commands to run, in this order. */
import type { Section } from './cli-section.ts';
import { otherHosts } from './cli-sections-hosts.ts';

const order = {
  id: 'order',
  name: 'Order',
  version: '1',
  nodes: [
    {
      id: 'details',
      typeId: 'core.clarificationGate',
      name: 'Details',
      position: { x: 0, y: 0 },
      config: {
        questions: [
          { id: 'size', question: 'Which size?' },
          { id: 'count', question: 'How many?', schema: { type: 'integer' } },
        ],
      },
      inputs: {},
    },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

/** Long enough to be paused before it ends, even on a slow machine. */
const nap = {
  ...order,
  id: 'nap',
  name: 'Nap',
  nodes: [{ ...order.nodes[0], id: 'sleep', typeId: 'core.delay', name: 'Sleep', config: { delayMs: 3_600_000 } }],
};

const division = {
  ...order,
  id: 'division',
  name: 'Division',
  nodes: [
    {
      ...order.nodes[0],
      id: 'divide',
      typeId: 'core.setVariable',
      name: 'Divide',
      config: { name: 'share', expression: 'variables.total / variables.people' },
    },
  ],
  variables: [
    { name: 'total', type: 'number', required: true },
    { name: 'people', type: 'number', required: true },
    { name: 'share', type: 'number', defaultValue: 0 },
  ],
};

const config = { data: './data', keys: [{ keyEnv: 'CAIRN_KEY', tenant: 'acme' }] };

const serving: readonly Section[] = [
  {
    verb: 'dev',
    prose:
      'Starts a development host. Data and key are in `.cairn` and stay there. While the host runs, the other commands find it from this folder and its subfolders. An edited workflow may keep its version here; runs keep the definition they started with. With a file, such as `cairn dev app.ts`, it runs what the file defines, follows its changes and prints a line when a run starts or ends ([first workflow](../guides/first-workflow.md)). Without one it includes two workflows, `hello` and `review`, and five packs of agents with the workflows `research-crew`, `support-triage`, `code-review`, `newsroom` and `harbour-watch`. In a folder without runs it also starts a demo of three real runs with scripted agents, tagged `demo`: one ends, one goes on for about six minutes, one asks a question. A later start adds none; `--no-demo` leaves them out.\n\n`--model` connects a model. The key of `openai`, `anthropic` and `google` is in `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`; `--model-url` is for any server that speaks the OpenAI API. [Models](models.md) has everything else.',
    steps: [{ command: 'cairn dev' }],
  },
  {
    verb: 'init',
    prose:
      'Writes a small project: `app.ts` with an agent and its tool, a test, a `package.json`, a `tsconfig.json`. The folder must be new or empty, and outside the checkout. Until the packages are published, the project uses those that `npm run pack:local` makes in `dist/packages` of the checkout, or those in `--packages`. [Your first workflow](../guides/first-workflow.md) starts with it.',
    steps: [{ command: 'cairn init .' }],
  },
  {
    verb: 'start',
    prose:
      'Starts a host with a [configuration](configuration.md). In this example, `prod.json` is `{ "data": "./data", "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "acme" }] }`, and `CAIRN_KEY` contains the key.',
    steps: [{ command: 'cairn start --config prod.json', files: { 'prod.json': JSON.stringify(config) } }],
  },
  {
    verb: 'migrate',
    prose:
      'Prepares a PostgreSQL database: creates the schema `cairn` in it, or brings it to this version. Run it before the first node, and before nodes of a new version start; it does nothing if nothing is missing. Several at a time wait for each other. The user needs `CREATE` on the database, no superuser and no extension. See [many nodes](../operate/scale.md).',
    steps: [],
  },
  {
    verb: 'move',
    prose:
      'Moves everything of a stopped host from its data folder into an empty PostgreSQL database: runs, forks, artifacts, memory, packs, credentials, webhooks, quotas. Cursors and hashes stay the same, and every event is hashed again in the end. Ctrl-C stops it; the same command goes on where it was, also after a kill. It refuses a folder that a host uses and a database with other data. The folder stays as it is. See [many nodes](../operate/scale.md#move-from-a-data-folder).',
    steps: [],
  },
];

const running: readonly Section[] = [
  {
    verb: 'workflows',
    prose: 'Lists the workflows, shows one, or registers one from a file with `--add`.',
    steps: [
      { command: 'cairn workflows' },
      { command: 'cairn workflows hello' },
      { command: 'cairn workflows --add order.json', files: { 'order.json': JSON.stringify(order) } },
      { command: 'cairn workflows --add division.json', files: { 'division.json': JSON.stringify(division) } },
    ],
  },
  {
    verb: 'nodes',
    prose:
      'Lists the node types that workflows can use, with the steps of the host, or shows one. The last part of a name is enough. [Node types](nodes.md) has an example of each.',
    steps: [{ command: 'cairn nodes' }, { command: 'cairn nodes core.approvalGate' }],
  },
  {
    verb: 'run',
    prose:
      "Starts a run and follows it to its end. Progress goes to stderr, outputs go to stdout, and the exit code is the result. The types of the workflow's variables determine how inputs are parsed: `yes` and `true` are the same boolean. A name that the workflow does not have is refused. `--input-file` reads a JSON object.\n\nIf the run or a run below it asks a person, the command asks you in an interactive terminal. If only others may answer, it says who. In a script it exits with 5 and prints the command that answers. Ctrl-C stops following; the run continues.\n\nChild runs are shown below their parent, indented. At most eight are followed at the same time; further ones follow in turn.\n\nThe command shows what agents do: who acts, their reasoning (`┊`) and text, tool calls and results, decisions, and the total usage.",
    steps: [
      { command: 'cairn run hello --input name=Ada', names: 'hello' },
      { command: 'cairn run review', says: ['accept'] },
      { command: 'cairn run review', names: 'review' },
      { command: 'cairn run support-triage', says: ['approve'], names: 'triage' },
      { command: 'cairn run division --input total=90 --input people=0 --tag sharing', names: 'failed' },
      { command: 'cairn run division --input total=ninety' },
      { command: 'cairn run division --input totl=90' },
      { command: 'cairn run helo' },
      { command: 'cairn run order --detach', names: 'order' },
    ],
  },
  {
    verb: 'runs',
    prose: 'Lists runs, newest first. You can combine the filters `status:`, `workflow:` and `tag:`.',
    steps: [
      { command: 'cairn runs' },
      { command: 'cairn runs status:failed tag:sharing' },
      { command: 'cairn runs status:waiting' },
    ],
  },
  {
    verb: 'show',
    prose:
      'Shows a run: its status, its nodes, the runs below it, its questions with the votes so far, its result and what its agents did. Like every command that takes a run, it also takes the beginning of an id and `last`, the newest run that no other run started. `--at` shows the state after an earlier event.',
    steps: [
      { command: 'cairn show {hello}' },
      { command: 'cairn show {hello} --at 4' },
      { command: 'cairn show {failed}' },
      { command: 'cairn show run_nobody-knows' },
    ],
  },
  {
    verb: 'diff',
    prose:
      'Compares two runs: where they first part, then the decisions, tool calls, model turns, answers, texts, artifacts and child runs that differ, the state at the end, and what each used. Entries are aligned by node, visit and call, not by sequence. It exits like `diff`: with 0 if the runs did the same, with 1 if they did not. `--json` prints the data. See [compare runs](diff.md).',
    steps: [
      { command: 'cairn run hello --input name=Ben', names: 'other' },
      { command: 'cairn diff {hello} {other}', head: 29 },
    ],
  },
  {
    verb: 'why',
    prose:
      'Shows what caused an event: the cause, the cause of that, and so on, up to the start of the run and to the run that requested it, here or on [another host](peers.md). `--hosts` names a file with the other hosts that you have keys for. A key is sent only to the address beside it. Without the number of an event, the walk begins at the last one of the run. It exits with 0 at an event that nothing caused, and with 1 if it cannot go on.',
    steps: [{ command: 'cairn why {hello} 4' }],
  },
  {
    verb: 'tail',
    prose:
      'Prints the events of a run from any event on, live until the run ends. `--types` accepts types and prefixes (`node` matches every `node.…`). It shows what agents do in the same form as `run`; with `--types` or `--json` it shows the raw events. After a disconnect it resumes without a gap.',
    steps: [
      { command: 'cairn tail {hello}' },
      { command: 'cairn tail {hello} --from 5 --types node' },
      { command: 'cairn tail {hello} --types run.completed --json' },
      { command: 'cairn tail {triage}', head: 12 },
    ],
  },
  {
    verb: 'studio',
    prose:
      'Prints a link that opens Studio in a browser, signed in with the key of this command. The link holds a code instead of the key. It works once, for ten minutes, until the host stops. `cairn dev` prints one when it starts.',
    steps: [],
  },
  {
    verb: 'inbox',
    prose:
      'Lists the questions of all runs and child runs, oldest first, with the path of workflows to each question. `--watch` follows the inbox live. See [inbox](inbox.md).',
    steps: [{ command: 'cairn inbox' }],
  },
  {
    verb: 'answer',
    prose:
      'Answers a question. Name it by its number in the inbox, as `RUN/QUESTION`, or by a run that asks or has a child run that asks. The answer is the action of an approval, `name=value` pairs for questions, or any JSON with `--value`. `accept`, `approve`, `yes` and `true` mean the same, and so do `reject`, `no` and `false`. After an interrupted write, the command asks whether the call was carried out: `retry` (or `no`) does it now, `use` (or `yes`) takes the result that you enter, `fail` gives it up. Without an answer, the command shows the question and asks you. Only the first answer counts. In a [conversation](conversations.md) every answer is a turn, and `/close` ends it.',
    steps: [
      { command: 'cairn answer {review} acept' },
      { command: 'cairn answer {review} accept' },
      { command: 'cairn answer {review} accept' },
      { command: 'cairn answer {order}', says: ['L', 'two', 'L', '2'] },
    ],
  },
  {
    verb: 'pause',
    prose:
      'Pauses a run. Running nodes finish first. With `--now` they are interrupted and start again after the resume.',
    steps: [
      { command: 'cairn workflows --add nap.json', files: { 'nap.json': JSON.stringify(nap) } },
      { command: 'cairn run nap --detach', names: 'paused' },
      { command: 'cairn pause {paused} --now --reason lunch' },
    ],
  },
  {
    verb: 'delete',
    prose:
      'Purges a run that has ended, with all runs below it. It asks first, because it cannot be undone. `--dry-run` only says what would go. See [retention](retention.md).',
    steps: [{ command: 'cairn delete {hello} --dry-run' }],
  },
  {
    verb: 'retention',
    prose:
      'Shows the [rules](retention.md#rules) for how long runs stay, or with `--dry-run` the runs that would go now.',
    steps: [{ command: 'cairn retention' }, { command: 'cairn retention --dry-run' }],
  },
  {
    verb: 'resume',
    prose: 'Resumes a paused run.',
    steps: [{ command: 'cairn resume {paused}' }, { command: 'cairn resume {review}' }],
  },
  {
    verb: 'cancel',
    prose: 'Cancels a run. A run that has ended does not change.',
    steps: [
      { command: 'cairn run review --detach', names: 'cancelled' },
      { command: 'cairn cancel {cancelled} --reason "not today"' },
      { command: 'cairn cancel {hello}' },
    ],
  },
];

const forks: readonly Section[] = [
  {
    verb: 'fork',
    prose:
      'Creates a run that shares the events of another one up to an event, and follows it. See [forks](forks.md) for overlays and rules.',
    steps: [
      { command: 'cairn fork {hello} --set name=Grace' },
      { command: 'cairn fork {hello} --at 2 --detach' },
      { command: 'cairn fork {hello} --at 1000' },
    ],
  },
  {
    verb: 'retry',
    prose: 'Branches off a failed run at the node that failed. Everything before it is shared.',
    steps: [{ command: 'cairn retry {failed} --set people=3' }, { command: 'cairn retry {hello}' }],
  },
];

const agents: readonly Section[] = [
  {
    verb: 'agents',
    prose: 'Lists the agents of installed packs and of the host, or shows one. You can run an agent like a workflow.',
    steps: [{ command: 'cairn agents' }, { command: 'cairn agents community.cairn.support-triage.triage' }],
  },
  {
    verb: 'tools',
    prose:
      'Lists the tools that agents can call, or shows one. Each agent is limited to the list in its manifest, and each run to what its starter allows. See [tools](tools.md).',
    steps: [{ command: 'cairn tools' }, { command: 'cairn tools openwop:fs.write' }],
  },
  {
    verb: 'calibration',
    prose: 'Compares the stated confidence of agents with human verdicts. See [calibration](calibration.md).',
    steps: [{ command: 'cairn calibration' }],
  },
  {
    verb: 'pack',
    subVerbs: ['init', 'lint', 'sign', 'verify', 'add', 'list', 'remove'],
    prose:
      'Manages [packs](packs.md) of agents. `init`, `lint`, `sign` and `verify` need no host: they work on a folder, and `lint` and `verify` also on an archive. `add`, `list` and `remove` call a host. `cairn dev` accepts unsigned packs. Every other host accepts only packs that a key in its `packs.trust` signed, except from the folders in its `packs.unsigned`.',
    steps: [
      { command: 'cairn pack init desk --name vendor.acme.desk' },
      { command: 'cairn pack lint desk' },
      { command: 'cairn pack sign desk --key acme.pem --key-id acme-2026 --new-key' },
      { command: 'cairn pack verify desk' },
      { command: 'cairn pack add desk' },
      { command: 'cairn pack list' },
      { command: 'cairn pack remove vendor.acme.desk' },
      { command: 'cairn pack remove vendor.acme.desk' },
    ],
  },
];

const withoutHost: readonly Section[] = [
  {
    verb: 'verify',
    prose:
      'Checks every event and hash of a run, a [bundle](bundles.md) or all runs, and whatever the data folder derives from them. It reads the folder or the file directly, with or without a running host; of a PostgreSQL database it makes a temporary copy. `--against` compares with a signed checkpoint. See [verification](verify.md).',
    steps: [{ command: 'cairn verify {hello}' }, { command: 'cairn verify {hello} --json' }],
  },
  {
    verb: 'replay',
    prose:
      'Decides recorded runs again with this version: results, answers and timers come from the record, and every decision is made again and compared. It stops at the first event that differs, shows both sides, and exits with 1. It needs neither a host nor the functions of the steps, so a project can run it over its [bundles](bundles.md) before an update. A folder stands for the bundles in it. Agents and supervisors are [decided again, too](forks.md#check-recorded-runs). Only a node type that a host adds in code needs that host; the command names it.',
    steps: [{ command: 'cairn replay {hello}' }, { command: 'cairn replay {hello} --json' }],
  },
  {
    verb: 'checkpoint',
    prose:
      'Prints a statement of the last event of runs, signed with the key of the data folder or the configured master key, which a host on PostgreSQL needs. Kept elsewhere, it shows whether a run was cut, replaced or removed later. See [signed checkpoints](verify.md#signed-checkpoints).',
    steps: [
      { command: 'cairn checkpoint {hello} --output hello.jsonl' },
      { command: 'cairn verify {hello} --against hello.jsonl' },
    ],
  },
  {
    verb: 'export',
    prose:
      'Writes a complete run and the runs below it to one file, a [bundle](bundles.md). Exporting a run again gives the same bytes.',
    steps: [
      { command: 'cairn export {review} --output review.cairn.jsonl' },
      { command: 'cairn verify review.cairn.jsonl' },
      { command: 'cairn export {review} --output review.cairn.jsonl' },
    ],
  },
  {
    verb: 'import',
    prose:
      'Checks a bundle and adds its run to a data folder that no host uses, or to a PostgreSQL database, also while its nodes run. The imported run is read-only: the host never steps it and refuses answers and cancels ([run_imported](../errors/run_imported.md)).',
    steps: [
      { command: 'cairn import review.cairn.jsonl' },
      { command: 'cairn import review.cairn.jsonl --data look' },
      { command: 'cairn verify {review} --data look' },
    ],
  },
  {
    verb: 'doctor',
    prose:
      'Checks Node, the configuration, the data folder, its lock, its database and its write-ahead log, the disk and the port, and suggests fixes. `--rebuild` rebuilds the run list and the task view from the events. On PostgreSQL it checks the connection, the version, the schema and the nodes; space is the work of `VACUUM`.',
    steps: [{ command: 'cairn doctor --data .cairn' }, { command: 'cairn doctor --data look --rebuild' }],
  },
  {
    verb: 'backup',
    prose:
      'Copies the data of a host into one file, also while it runs: a data folder, or a PostgreSQL database with `--store`. The key of the host is left out unless you ask for it. See [the guide](../operate/backup-and-restore.md).',
    steps: [{ command: 'cairn backup look.cairn --data look' }, { command: 'cairn backup look.cairn --data look' }],
  },
  {
    verb: 'restore',
    prose:
      'Checks a backup, with the hash chain of every run, and makes a new data folder of it, or fills an empty PostgreSQL database. It never writes to one that has data.',
    steps: [{ command: 'cairn restore look.cairn --data restored' }],
  },
  {
    verb: 'key',
    prose:
      'Prints a new random key of 256 bits on stdout, and its hash for `keys` in `cairn.json` on stderr. Use one also as a secret of the configuration or as `masterKey`. A host that others can reach [refuses keys and secrets that can be guessed](security.md#keys).',
    steps: [{ command: 'cairn key' }, { command: 'cairn key --json' }],
  },
  {
    verb: 'explain',
    prose:
      'Prints the page of an [error code](../errors/README.md), without a host. Without a code it lists all codes.',
    steps: [{ command: 'cairn explain interrupt_expired' }, { command: 'cairn explain interupt_expired' }],
  },
  {
    verb: 'completion',
    prose:
      'Prints a completion script for your shell. It completes verbs and options, and the runs, workflows, agents and tools of the host. Add `eval "$(cairn completion bash)"` to `~/.bashrc`, the same for zsh, or run `cairn completion fish | source`.',
    steps: [{ command: 'cairn completion bash', head: 5 }],
  },
];

export const sections: readonly Section[] = [
  ...serving,
  ...running,
  ...forks,
  ...agents,
  ...otherHosts,
  ...withoutHost,
];
