/** The verbs that talk to a host: start runs, look at them, answer and change them. */
import type { Command } from 'commander';
import type { AnswerFlags } from './answer.ts';
import type { PauseFlags, ReasonFlags } from './change-run.ts';
import type { InboxFlags } from './inbox.ts';
import type { RunFlags } from './run.ts';
import type { RunsFlags } from './runs.ts';
import type { ShowFlags } from './show.ts';
import type { TailFlags } from './tail.ts';
import type { Terminal } from './terminal.ts';
import { ends, repeated, wholeNumber, withExamples, withHostOptions } from './verb.ts';
import type { WorkflowFlags } from './workflows.ts';

export function addRunVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Runs:');
  addRun(cairn, terminal);
  addRuns(cairn, terminal);
  addShow(cairn, terminal);
  addTail(cairn, terminal);
  addInbox(cairn, terminal);
  addAnswer(cairn, terminal);
  addChanges(cairn, terminal);
  addWorkflows(cairn, terminal);
}

const position = wholeNumber('The number of an event', 0, Number.MAX_SAFE_INTEGER);

function addRun(cairn: Command, terminal: Terminal): void {
  const run = withHostOptions(cairn.command('run <workflow|agent>').description('start a run and see it through'))
    .addOption(repeated('-i, --input <name=value>', 'an input; may be given several times'))
    .option('--input-file <file>', 'inputs as a JSON object; - is stdin')
    .addOption(repeated('--tag <tag>', 'a tag to find the run by; may be given several times'))
    .option('--context <context>', 'go on with a conversation: the contextId of an earlier run')
    .option('--detach', 'print the id of the run and leave it to itself')
    .action((name: string, flags: RunFlags) =>
      ends(terminal, async () => (await import('./run.ts')).run(terminal, name, flags)),
    );
  withExamples(
    run,
    ['cairn run hello --input name=Ada', 'outputs on stdout, progress on stderr'],
    ['cairn run hello --input-file inputs.json', 'inputs from a file'],
    ['cairn run review', 'asks here when the run asks a person'],
    ['cairn run vendor.acme.desk.triage -i message=Hello', 'one agent, by its id'],
    ['id=$(cairn run hello --detach)', 'do not wait'],
    ['cairn run hello --json | jq .status', 'the whole run at its end'],
  );
}

function addRuns(cairn: Command, terminal: Terminal): void {
  const runs = withHostOptions(cairn.command('runs [filter...]').description('list runs, newest first'))
    .option('-n, --limit <number>', 'how many', wholeNumber('A limit', 1, 200), 20)
    .option('--cursor <cursor>', 'go on after an earlier page')
    .action((words: readonly string[], flags: RunsFlags) =>
      ends(terminal, async () => (await import('./runs.ts')).runs(terminal, words, flags)),
    );
  withExamples(
    runs,
    ['cairn runs', 'the newest ones'],
    ['cairn runs status:failed', 'pending, running, paused, waiting-approval, waiting-input, …'],
    ['cairn runs workflow:hello tag:nightly', 'filters together'],
    ['cairn runs --json -n 200', 'one JSON document: { runs, nextCursor }'],
  );
}

function addShow(cairn: Command, terminal: Terminal): void {
  const show = withHostOptions(cairn.command('show <run>').description('one run: its nodes, questions, error, outputs'))
    .option('--at <event>', 'the run as it was after this event', position)
    .action((runId: string, flags: ShowFlags) =>
      ends(terminal, async () => (await import('./show.ts')).show(terminal, runId, flags)),
    );
  withExamples(show, ['cairn show RUN', 'as it is'], ['cairn show RUN --at 7', 'as it was after event 7']);
}

function addTail(cairn: Command, terminal: Terminal): void {
  const types = (text: string, before: readonly string[] | undefined) => [...(before ?? []), ...text.split(',')];
  const tail = withHostOptions(cairn.command('tail <run>').description('the events of a run, as they happen'))
    .option('--from <event>', 'begin at this event', position)
    .option('--types <list>', 'only these types, e.g. node,run.completed', types)
    .option('--no-follow', 'print what is there and stop')
    .action((runId: string, flags: TailFlags) =>
      ends(terminal, async () => (await import('./tail.ts')).tail(terminal, runId, flags)),
    );
  withExamples(
    tail,
    ['cairn tail RUN', 'until the run ends'],
    ['cairn tail RUN --from 12 --types node', 'node events from event 12 on'],
    ['cairn tail RUN --json --no-follow', 'one event as JSON on each line'],
  );
}

function addInbox(cairn: Command, terminal: Terminal): void {
  const inbox = withHostOptions(cairn.command('inbox').description('what waits for a person, in any run'))
    .option('-n, --limit <number>', 'how many', wholeNumber('A limit', 1, 10_000), 50)
    .option('-w, --watch', 'stay, and show what comes and goes')
    .action((flags: InboxFlags) => ends(terminal, async () => (await import('./inbox.ts')).inbox(terminal, flags)));
  withExamples(
    inbox,
    ['cairn inbox', 'the oldest first, each with the workflows above it'],
    ['cairn inbox --watch', 'until Ctrl-C'],
    ['cairn inbox --json | jq .entries[0].path', 'the runs and agents above the first'],
  );
}

function addAnswer(cairn: Command, terminal: Terminal): void {
  const answer = withHostOptions(
    cairn.command('answer <entry> [answer...]').description('answer what waits: an entry of the inbox, or a run'),
  )
    .option('--node <node>', 'which question, when there are several')
    .option('--feedback <text>', 'why, or what to change')
    .option('--value <json>', 'the whole answer as JSON')
    .action((name: string, words: readonly string[], flags: AnswerFlags) =>
      ends(terminal, async () => (await import('./answer.ts')).answer(terminal, name, words, flags)),
    );
  withExamples(
    answer,
    ['cairn answer 1', 'the first entry of the inbox: shows the question and asks here'],
    ['cairn answer RUN', 'what this run asks, or a run below it'],
    ['cairn answer RUN/QUESTION accept', 'exactly this one, for scripts'],
    ['cairn answer RUN accept', 'an approval: accept, reject, refine'],
    ['cairn answer RUN reject --feedback "too dear"', 'with a reason'],
    ['cairn answer RUN approve', 'a decision that an agent is unsure of: approve, edit, reject'],
    ['cairn answer RUN city=Bern nights=3', 'questions by their names'],
    ['cairn answer RUN "a boat, I think"', 'a turn of a conversation; /close ends it'],
    [`cairn answer RUN --value '{"paid":true}'`, 'any other answer'],
  );
}

function addChanges(cairn: Command, terminal: Terminal): void {
  const cancel = withHostOptions(cairn.command('cancel <run>').description('cancel a run'))
    .option('--reason <text>', 'kept with the run')
    .action((runId: string, flags: ReasonFlags) =>
      ends(terminal, async () => (await import('./change-run.ts')).cancel(terminal, runId, flags)),
    );
  withExamples(cancel, ['cairn cancel RUN --reason "wrong input"', 'a run that has ended stays as it is']);
  const pause = withHostOptions(cairn.command('pause <run>').description('hold a run; nothing new starts in it'))
    .option('--reason <text>', 'kept with the run')
    .option('--now', 'do not wait for nodes that are under way')
    .action((runId: string, flags: PauseFlags) =>
      ends(terminal, async () => (await import('./change-run.ts')).pause(terminal, runId, flags)),
    );
  withExamples(
    pause,
    ['cairn pause RUN', 'nodes under way finish first'],
    ['cairn pause RUN --now', 'they are abandoned'],
  );
  const resume = withHostOptions(cairn.command('resume <run>').description('let a paused run go on'))
    .option('--reason <text>', 'why')
    .action((runId: string, flags: ReasonFlags) =>
      ends(terminal, async () => (await import('./change-run.ts')).resume(terminal, runId, flags)),
    );
  withExamples(resume, ['cairn resume RUN', '']);
}

function addWorkflows(cairn: Command, terminal: Terminal): void {
  const workflows = withHostOptions(cairn.command('workflows [workflow]').description('what can be run'))
    .option('--add <file>', 'register the definition in this file; - is stdin')
    .action((id: string | undefined, flags: WorkflowFlags) =>
      ends(terminal, async () => (await import('./workflows.ts')).workflows(terminal, id, flags)),
    );
  withExamples(
    workflows,
    ['cairn workflows', 'all of them'],
    ['cairn workflows hello', 'its nodes and inputs'],
    ['cairn workflows --add order.json', 'register one'],
  );
}
