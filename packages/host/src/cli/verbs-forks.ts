/** Verbs that make a run from another one: fork and retry. */
import type { Command } from 'commander';
import type { ForkFlags, RetryFlags } from './fork.ts';
import type { Terminal } from './terminal.ts';
import { exitWith, repeated, wholeNumber, withExamples, withHostOptions } from './verb.ts';

const position = wholeNumber('The sequence of an event', 0, Number.MAX_SAFE_INTEGER);

/** Options of both verbs that make a branch. */
const withBranchOptions = (command: Command): Command =>
  withHostOptions(command)
    .addOption(repeated('--set <name=value>', 'input to change; repeatable'))
    .addOption(repeated('--option <name=value>', 'run option to change, for example model=…; repeatable'))
    .addOption(repeated('--prompt <agent=text>', 'system prompt of an agent; @FILE reads a file; repeatable'))
    .addOption(
      repeated('--rule <calls=use>', 'reuse, ask or live for calls after the cut, first match wins; repeatable'),
    )
    .addOption(repeated('--tag <tag>', 'tags instead of those of the source; repeatable'))
    .option('--tree', 'of a child run: also cut the runs above it, which go on with the new run')
    .option('--detach', 'print the run id and exit; the run continues');

export function addForkVerbs(cairn: Command, terminal: Terminal): void {
  const fork = withBranchOptions(
    cairn.command('fork <run>').description('branch off a run at an event, or replay it, and follow the new run'),
  )
    .option('--at <event>', 'first event that is not shared; default: 0, the start', position)
    .option('--replay', 'repeat the record without any effect, and report where it differs')
    .option('--answer <json>', 'answer to the question that is open at that event')
    .addOption(repeated('--result <call=json>', 'result of a call that is open at that event'))
    .action((runId: string, flags: ForkFlags) =>
      exitWith(terminal, async () => (await import('./fork.ts')).fork(terminal, runId, flags)),
    );
  withExamples(
    fork,
    ['cairn fork RUN --at 12', 'shares the events 0 to 11 and goes on live'],
    ['cairn fork RUN --set name=Bob', 'the same run from its start, with another input'],
    ["cairn fork RUN --at 12 --rule 'tool:*=reuse'", 'reuses recorded results of unchanged tool calls'],
    ["cairn fork RUN --rule 'step:acme.pay=ask' --rule '*=reuse'", 'asks you before one call, reuses the others'],
    ['cairn fork RUN --option model=small --prompt vendor.acme.desk.triage=@new.md', 'another model and prompt'],
    ['cairn fork RUN.0 --at 7 --tree', 'the whole tree from an event of a child run on'],
    ['cairn fork RUN --at 26 --answer \'{"action":"reject"}\'', 'event 26 records the answer: give another one'],
    ['cairn fork RUN --at 10 --result \'CALL={"found":1}\'', 'event 10 records the result of CALL: give another one'],
    ['cairn tail RUN --json --no-follow', 'lists the events with their sequence'],
    ['cairn fork RUN --replay', 'decides the recorded run again'],
  );
  const retry = withBranchOptions(
    cairn.command('retry <run>').description('branch off a failed run at the node that failed, and follow it'),
  ).action((runId: string, flags: RetryFlags) =>
    exitWith(terminal, async () => (await import('./fork.ts')).retry(terminal, runId, flags)),
  );
  withExamples(
    retry,
    ['cairn retry RUN', 'keeps everything before the failed node'],
    ['cairn retry RUN --set url=https://example.com', 'with another input'],
  );
}
