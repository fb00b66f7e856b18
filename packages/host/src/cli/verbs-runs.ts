/** Verbs that call a host: start, list, show, follow, answer and control runs. */
import type { Command } from 'commander';
import type { AnswerFlags } from './answer.ts';
import type { PauseFlags, ReasonFlags } from './change-run.ts';
import type { DeleteFlags, RetentionFlags } from './delete.ts';
import type { DiffFlags } from './diff.ts';
import type { HostFlags } from './find-host.ts';
import type { InboxFlags } from './inbox.ts';
import type { RunFlags } from './run.ts';
import type { RunsFlags } from './runs.ts';
import type { ShowFlags } from './show.ts';
import type { TailFlags } from './tail.ts';
import type { Terminal } from './terminal.ts';
import { exitWith, repeated, wholeNumber, withExamples, withHostOptions } from './verb.ts';
import { addForkVerbs } from './verbs-forks.ts';
import type { WhyFlags } from './why/why.ts';
import type { WorkflowFlags } from './workflows.ts';

export function addRunVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Runs:');
  addRun(cairn, terminal);
  addRuns(cairn, terminal);
  addShow(cairn, terminal);
  addDiff(cairn, terminal);
  addWhy(cairn, terminal);
  addTail(cairn, terminal);
  addInbox(cairn, terminal);
  addAnswer(cairn, terminal);
  addChanges(cairn, terminal);
  addDelete(cairn, terminal);
  addForkVerbs(cairn, terminal);
  addWorkflows(cairn, terminal);
  addStudio(cairn, terminal);
}

const position = wholeNumber('The sequence of an event', 0, Number.MAX_SAFE_INTEGER);

function addRun(cairn: Command, terminal: Terminal): void {
  const run = withHostOptions(cairn.command('run <workflow|agent>').description('start a run and follow it to its end'))
    .addOption(repeated('-i, --input <name=value>', 'input of the run; repeatable'))
    .option('--input-file <file>', 'file with the inputs as a JSON object; - is stdin')
    .addOption(repeated('--tag <tag>', 'tag of the run; repeatable'))
    .option('--context <context>', 'continue a conversation: the contextId of an earlier run')
    .option('--detach', 'print the run id and exit; the run continues')
    .action((name: string, flags: RunFlags) =>
      exitWith(terminal, async () => (await import('./run.ts')).run(terminal, name, flags)),
    );
  withExamples(
    run,
    ['cairn run hello --input name=Ada', 'prints outputs to stdout and progress to stderr'],
    ['cairn run hello --input-file inputs.json', 'reads inputs from a file'],
    ['cairn run review', 'asks you when the run asks a person'],
    ['cairn run vendor.acme.desk.triage -i message=Hello', 'runs a single agent'],
    ['id=$(cairn run hello --detach)', 'does not wait'],
    ['cairn run hello --json | jq .status', 'prints the final run as JSON'],
  );
}

function addStudio(cairn: Command, terminal: Terminal): void {
  const studio = withHostOptions(
    cairn.command('studio').description('print a link that opens Studio in a browser, signed in, once'),
  ).action((flags: HostFlags) => exitWith(terminal, async () => (await import('./studio.ts')).studio(terminal, flags)));
  withExamples(
    studio,
    ['cairn studio', 'the link holds no key, and is good for 10 minutes'],
    ['open "$(cairn studio)"', 'opens it at once (xdg-open on Linux)'],
  );
}

function addRuns(cairn: Command, terminal: Terminal): void {
  const runs = withHostOptions(cairn.command('runs [filter...]').description('list runs, newest first'))
    .option('-n, --limit <number>', 'maximum number', wholeNumber('The limit', 1, 200), 20)
    .option('--cursor <cursor>', 'continue after an earlier page')
    .action((words: readonly string[], flags: RunsFlags) =>
      exitWith(terminal, async () => (await import('./runs.ts')).runs(terminal, words, flags)),
    );
  withExamples(
    runs,
    ['cairn runs', 'the newest runs that no other run started'],
    ['cairn runs status:failed', 'pending, running, paused, waiting-approval, waiting-input, …'],
    ['cairn runs workflow:hello tag:nightly', 'combined filters'],
    ['cairn runs parent:RUN', 'the runs that this run started; parent:any for all runs'],
    ['cairn runs --json -n 200', 'one JSON document: { runs, nextCursor }'],
  );
}

function addShow(cairn: Command, terminal: Terminal): void {
  const show = withHostOptions(
    cairn.command('show <run>').description('show a run: its nodes, questions, error and outputs'),
  )
    .option('--at <event>', 'show the state after this event', position)
    .action((runId: string, flags: ShowFlags) =>
      exitWith(terminal, async () => (await import('./show.ts')).show(terminal, runId, flags)),
    );
  withExamples(show, ['cairn show RUN', 'the current state'], ['cairn show RUN --at 7', 'the state after event 7']);
}

function addDiff(cairn: Command, terminal: Terminal): void {
  const diff = withHostOptions(
    cairn.command('diff <run> <other>').description('show what two runs did differently; exits with 1 if they differ'),
  )
    .option('-n, --limit <number>', 'entries of each list', wholeNumber('The limit', 1, 200))
    .action((a: string, b: string, flags: DiffFlags) =>
      exitWith(terminal, async () => (await import('./diff.ts')).diff(terminal, [a, b], flags)),
    );
  withExamples(
    diff,
    ['cairn diff RUN OTHER', 'the first divergence, then decisions, calls, texts, artifacts and state'],
    ['cairn diff RUN last', 'compare with the newest run'],
    ['cairn diff RUN OTHER --json | jq .divergedAtSeq', 'as data'],
  );
}

function addWhy(cairn: Command, terminal: Terminal): void {
  const why = withHostOptions(
    cairn
      .command('why <run>')
      .argument('[event]', 'number of the event; default: the last one of the run', position)
      .description('show what caused an event, across runs and hosts, to the first cause'),
  )
    .option('--hosts <file>', 'JSON file with the other hosts: { "<hostId>": { "url": "…", "keyEnv": "…" } }')
    .option('--max-runs <number>', 'runs to go through; default: 32', wholeNumber('The number of runs', 1, 1_000))
    .action((runId: string, event: number | undefined, flags: WhyFlags) =>
      exitWith(terminal, async () => (await import('./why/why.ts')).why(terminal, runId, event, flags)),
    );
  withExamples(
    why,
    ['cairn why RUN', 'how the run came to its last event'],
    ['cairn tail RUN --no-follow', 'the events of a run with their numbers, to choose one'],
    ['cairn why RUN 17', 'from event 17 to the first event, and to the run that requested this one'],
    ['cairn why RUN 17 --hosts hosts.json', 'also through runs of other hosts, with your keys there'],
  );
}

function addTail(cairn: Command, terminal: Terminal): void {
  const types = (text: string, before: readonly string[] | undefined) => [...(before ?? []), ...text.split(',')];
  const tail = withHostOptions(cairn.command('tail <run>').description('print the events of a run, live'))
    .option('--from <event>', 'start at this event', position)
    .option('--types <list>', 'only these types, for example node,run.completed', types)
    .option('--no-follow', 'print the recorded events and exit')
    .action((runId: string, flags: TailFlags) =>
      exitWith(terminal, async () => (await import('./tail.ts')).tail(terminal, runId, flags)),
    );
  withExamples(
    tail,
    ['cairn tail RUN', 'follow until the run ends'],
    ['cairn tail RUN --from 12 --types node', 'node events, starting at event 12'],
    ['cairn tail RUN --json --no-follow', 'one event per line, as JSON'],
  );
}

function addInbox(cairn: Command, terminal: Terminal): void {
  const inbox = withHostOptions(
    cairn.command('inbox').description('list questions that wait for a person, in all runs'),
  )
    .option('-n, --limit <number>', 'maximum number', wholeNumber('The limit', 1, 10_000), 50)
    .option('-w, --watch', 'follow the inbox live')
    .action((flags: InboxFlags) => exitWith(terminal, async () => (await import('./inbox.ts')).inbox(terminal, flags)));
  withExamples(
    inbox,
    ['cairn inbox', 'oldest first, with the path of workflows to each question'],
    ['cairn inbox --watch', 'follow until Ctrl-C'],
    ['cairn inbox --json | jq .entries[0].path', 'the runs and agents above the first question'],
  );
}

function addAnswer(cairn: Command, terminal: Terminal): void {
  const answer = withHostOptions(
    cairn.command('answer <entry> [answer...]').description('answer a question from the inbox or from a run'),
  )
    .option('--node <node>', 'node that asks, if a run has several questions')
    .option('--feedback <text>', 'reason, or what to change')
    .option('--value <json>', 'the whole answer as JSON')
    .action((name: string, words: readonly string[], flags: AnswerFlags) =>
      exitWith(terminal, async () => (await import('./answer.ts')).answer(terminal, name, words, flags)),
    );
  withExamples(
    answer,
    ['cairn answer 1', 'show the first question of the inbox and ask you'],
    ['cairn answer RUN', 'answer the question of this run, or of a run below it'],
    ['cairn answer RUN/QUESTION accept', 'answer exactly this question, for scripts'],
    ['cairn answer RUN accept', 'decide an approval: accept, reject, refine'],
    ['cairn answer RUN reject --feedback "too dear"', 'reject with a reason'],
    ['cairn answer RUN approve', 'review an unsure decision of an agent: approve, edit, reject'],
    ['cairn answer RUN city=Bern nights=3', 'answer several questions by name'],
    ['cairn answer RUN "a boat, I think"', 'take a turn in a conversation; /close ends it'],
    [`cairn answer RUN --value '{"paid":true}'`, 'send any JSON answer'],
  );
}

function addChanges(cairn: Command, terminal: Terminal): void {
  const cancel = withHostOptions(cairn.command('cancel <run>').description('cancel a run'))
    .option('--reason <text>', 'reason, recorded in the run')
    .action((runId: string, flags: ReasonFlags) =>
      exitWith(terminal, async () => (await import('./change-run.ts')).cancel(terminal, runId, flags)),
    );
  withExamples(cancel, ['cairn cancel RUN --reason "wrong input"', 'does not change a run that has ended']);
  const pause = withHostOptions(cairn.command('pause <run>').description('pause a run; no new node starts'))
    .option('--reason <text>', 'reason, recorded in the run')
    .option('--now', 'interrupt running nodes instead of waiting for them')
    .action((runId: string, flags: PauseFlags) =>
      exitWith(terminal, async () => (await import('./change-run.ts')).pause(terminal, runId, flags)),
    );
  withExamples(
    pause,
    ['cairn pause RUN', 'running nodes finish first'],
    ['cairn pause RUN --now', 'running nodes are interrupted'],
  );
  const resume = withHostOptions(cairn.command('resume <run>').description('resume a paused run'))
    .option('--reason <text>', 'reason, recorded in the run')
    .action((runId: string, flags: ReasonFlags) =>
      exitWith(terminal, async () => (await import('./change-run.ts')).resume(terminal, runId, flags)),
    );
  withExamples(resume, ['cairn resume RUN', 'interrupted nodes start again']);
}

function addDelete(cairn: Command, terminal: Terminal): void {
  const purge = withHostOptions(
    cairn.command('delete <run>').description('purge a run that has ended, with all runs below it'),
  )
    .option('--dry-run', 'only say what would go')
    .option('--force', 'also if forks share its events; they cannot be read any more then')
    .option('-y, --yes', 'do not ask')
    .action((runId: string, flags: DeleteFlags) =>
      exitWith(terminal, async () => (await import('./delete.ts')).deleteRun(terminal, runId, flags)),
    );
  withExamples(
    purge,
    ['cairn delete RUN --dry-run', 'how many runs, events and bytes would go'],
    ['cairn delete RUN', 'asks first; it cannot be undone'],
    ['cairn delete RUN --yes --json', 'for scripts'],
  );
  const retention = withHostOptions(cairn.command('retention').description('show the rules for how long runs stay'))
    .option('--dry-run', 'list the runs that the rules would purge now')
    .action((flags: RetentionFlags) =>
      exitWith(terminal, async () => (await import('./delete.ts')).retention(terminal, flags)),
    );
  withExamples(
    retention,
    ['cairn retention', 'the rules for your tenant, in order'],
    ['cairn retention --dry-run', 'the root runs that would go now'],
  );
}

function addWorkflows(cairn: Command, terminal: Terminal): void {
  const workflows = withHostOptions(
    cairn.command('workflows [workflow]').description('list workflows, show one, or register one'),
  )
    .option('--add <file>', 'file with a definition to register; - is stdin')
    .action((id: string | undefined, flags: WorkflowFlags) =>
      exitWith(terminal, async () => (await import('./workflows.ts')).workflows(terminal, id, flags)),
    );
  withExamples(
    workflows,
    ['cairn workflows', 'list all workflows'],
    ['cairn workflows hello', 'show its nodes and inputs'],
    ['cairn workflows --add order.json', 'register a workflow'],
  );
  const nodes = withHostOptions(
    cairn.command('nodes [type]').description('list node types that workflows can use, or show one'),
  ).action((typeId: string | undefined, flags: HostFlags) =>
    exitWith(terminal, async () => (await import('./nodes.ts')).nodes(terminal, typeId, flags)),
  );
  withExamples(
    nodes,
    ['cairn nodes', 'list all node types'],
    ['cairn nodes core.approvalGate', 'show its settings, inputs, outputs and ports'],
    ['cairn nodes delay --json', 'the same with the JSON Schema of the settings'],
  );
}
