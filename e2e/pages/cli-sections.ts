/** What the page of the command line says of each verb, and what its newcomer types, in this order. */

export interface Step {
  /** `{name}` stands for the run that an earlier step named. */
  readonly command: string;
  /** What the person types when asked; without it there is nobody to ask. */
  readonly says?: readonly string[];
  /** Written into the folder first. */
  readonly files?: Readonly<Record<string, string>>;
  /** A name for the run that is printed. */
  readonly names?: string;
  /** Only this many lines are shown. */
  readonly head?: number;
}

export interface Section {
  readonly verb: string;
  /** Verbs below it, each with a help of its own. */
  readonly subVerbs?: readonly string[];
  readonly prose: string;
  readonly steps: readonly Step[];
}

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

/** Long enough to be paused before it is over, however slow the machine. */
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
      'A host to try things with. Data and key live in `.cairn` and stay there; while it runs, the other verbs find it from this folder and from below it. It brings two workflows, `hello` and `review`, and three packs of agents with workflows of their own: `research-crew`, `support-triage` and `code-review`.',
    steps: [{ command: 'cairn dev' }],
  },
  {
    verb: 'start',
    prose:
      'A host as a [configuration](configuration.md) describes it. Here `prod.json` is `{ "data": "./data", "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "acme" }] }`, and `CAIRN_KEY` holds the key.',
    steps: [{ command: 'cairn start --config prod.json', files: { 'prod.json': JSON.stringify(config) } }],
  },
];

const running: readonly Section[] = [
  {
    verb: 'workflows',
    prose: 'What can be run; what one of them takes; and `--add` to register another, from a file.',
    steps: [
      { command: 'cairn workflows' },
      { command: 'cairn workflows hello' },
      { command: 'cairn workflows --add order.json', files: { 'order.json': JSON.stringify(order) } },
      { command: 'cairn workflows --add division.json', files: { 'division.json': JSON.stringify(division) } },
    ],
  },
  {
    verb: 'run',
    prose:
      "Starts a run and sees it through: progress on stderr, outputs on stdout, the outcome as exit code. Values are read by the type of the workflow's variables; `--input-file` takes a JSON object. When the run asks a person and somebody sits at the terminal, it asks right there; where nobody does, as in a script, it ends with 5 and says how to answer. Ctrl-C stops watching, not the run. What agents do is told as they do it: who acts, what they think (`┊`) and say, the tools they call and what came back, decisions, and what it used in the end.",
    steps: [
      { command: 'cairn run hello --input name=Ada', names: 'hello' },
      { command: 'cairn run review', says: ['accept'] },
      { command: 'cairn run review', names: 'review' },
      { command: 'cairn run support-triage', says: ['approve'], names: 'triage' },
      { command: 'cairn run division --input total=90 --input people=0 --tag sharing', names: 'failed' },
      { command: 'cairn run division --input total=ninety' },
      { command: 'cairn run helo' },
      { command: 'cairn run order --detach', names: 'order' },
    ],
  },
  {
    verb: 'runs',
    prose: 'The newest runs first. Filters are `status:`, `workflow:` and `tag:`, and hold together.',
    steps: [
      { command: 'cairn runs' },
      { command: 'cairn runs status:failed tag:sharing' },
      { command: 'cairn runs status:waiting' },
    ],
  },
  {
    verb: 'show',
    prose:
      'One run: what it is, its nodes, what it asks, how it ended, what its agents did. With `--at` it is the run as it was after that event, because a run is nothing but its events.',
    steps: [
      { command: 'cairn show {hello}' },
      { command: 'cairn show {hello} --at 4' },
      { command: 'cairn show {failed}' },
      { command: 'cairn show run_nobody-knows' },
    ],
  },
  {
    verb: 'tail',
    prose:
      'The events of a run, live until it ends, from any event on. `--types` takes types and their beginnings (`node` is every `node.…`). What agents do is told as `run` tells it; with `--types` or `--json` their events are shown as they are. A connection that breaks is taken up again where it was, without a gap.',
    steps: [
      { command: 'cairn tail {hello}' },
      { command: 'cairn tail {hello} --from 5 --types node' },
      { command: 'cairn tail {hello} --types run.completed --json' },
      { command: 'cairn tail {triage}', head: 12 },
    ],
  },
  {
    verb: 'inbox',
    prose:
      'What waits for a person, in any run and in the runs that runs start, the oldest first, with the workflows above each question. With `--watch` it stays and shows what comes and goes. [More about the inbox](inbox.md).',
    steps: [{ command: 'cairn inbox' }],
  },
  {
    verb: 'answer',
    prose:
      'Tells a run what it asked, named by its number in the inbox, as `RUN/QUESTION`, or as the run that asks or has one below it that does: the action of an approval, answers by the name of the question, or any JSON with `--value`. Without an answer it shows the question and asks you. Only the first answer counts. In a [conversation](conversations.md) every answer is a turn, and `/close` ends it.',
    steps: [
      { command: 'cairn answer {review} acept' },
      { command: 'cairn answer {review} accept' },
      { command: 'cairn answer {review} accept' },
      { command: 'cairn answer {order}', says: ['L', 'two', 'L', '2'] },
    ],
  },
  {
    verb: 'pause',
    prose: 'Holds a run. Nodes under way finish first; with `--now` they are abandoned and start again afterwards.',
    steps: [
      { command: 'cairn workflows --add nap.json', files: { 'nap.json': JSON.stringify(nap) } },
      { command: 'cairn run nap --detach', names: 'paused' },
      { command: 'cairn pause {paused} --now --reason lunch' },
    ],
  },
  {
    verb: 'resume',
    prose: 'Lets a paused run go on.',
    steps: [{ command: 'cairn resume {paused}' }, { command: 'cairn resume {review}' }],
  },
  {
    verb: 'cancel',
    prose: 'Cancels a run. One that has ended stays as it ended.',
    steps: [
      { command: 'cairn run review --detach', names: 'cancelled' },
      { command: 'cairn cancel {cancelled} --reason "not today"' },
      { command: 'cairn cancel {hello}' },
    ],
  },
];

const agents: readonly Section[] = [
  {
    verb: 'agents',
    prose:
      'Who can be asked to work: the agents of installed packs and of the host itself. One can be run as a workflow is.',
    steps: [{ command: 'cairn agents' }, { command: 'cairn agents community.cairn.support-triage.triage' }],
  },
  {
    verb: 'tools',
    prose:
      'What agents can be let call. Each agent has only what is on the list of its manifest, and a run only what its starter allows. [More about tools](tools.md).',
    steps: [{ command: 'cairn tools' }, { command: 'cairn tools openwop:fs.write' }],
  },
  {
    verb: 'calibration',
    prose:
      'How sure agents were of decisions, against what people said of them. [More about calibration](calibration.md).',
    steps: [{ command: 'cairn calibration' }],
  },
  {
    verb: 'pack',
    subVerbs: ['init', 'lint', 'sign', 'verify', 'add', 'list', 'remove'],
    prose:
      '[Packs](packs.md) of agents. `init`, `lint`, `sign` and `verify` need no host: they work on a folder, `lint` and `verify` also on an archive. `add`, `list` and `remove` talk to a host. A host of `cairn dev` takes unsigned packs, every other one only packs that a key of its `packs.trust` signed.',
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
      'Walks the [hash chain](../decisions/0006-hash-recipe.md) of a run, or of a [bundle](bundles.md), and says where it breaks. It reads the data folder or the file itself; a host may be running or not.',
    steps: [{ command: 'cairn verify {hello}' }, { command: 'cairn verify {hello} --json' }],
  },
  {
    verb: 'export',
    prose: 'Writes a run into one file that says everything about it: a [bundle](bundles.md).',
    steps: [
      { command: 'cairn export {review} --output review.cairn.jsonl' },
      { command: 'cairn verify review.cairn.jsonl' },
      { command: 'cairn export {review} --output review.cairn.jsonl' },
    ],
  },
  {
    verb: 'import',
    prose:
      'Takes the run of a bundle into a data folder that no host uses, after it has checked every byte. The run can be looked at there, and never goes on: it is not stepped, and answers and cancels are refused ([run_imported](../errors/run_imported.md)).',
    steps: [
      { command: 'cairn import review.cairn.jsonl' },
      { command: 'cairn import review.cairn.jsonl --data look' },
      { command: 'cairn verify {review} --data look' },
    ],
  },
  {
    verb: 'doctor',
    prose:
      'Looks at Node, the configuration, the data folder, its lock, its database and its write-ahead log, the disk and the port, and says what to do. `--rebuild` makes the run list again from the events.',
    steps: [{ command: 'cairn doctor --data .cairn' }, { command: 'cairn doctor --data look --rebuild' }],
  },
  {
    verb: 'completion',
    prose:
      'A script for your shell: `eval "$(cairn completion bash)"` in `~/.bashrc`, the same with zsh, `cairn completion fish | source`.',
    steps: [{ command: 'cairn completion bash', head: 5 }],
  },
];

export const sections: readonly Section[] = [...serving, ...running, ...agents, ...withoutHost];
