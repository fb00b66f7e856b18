/** `cairn delete` purges a run; `cairn retention` says what the rules of the host would purge. */
import type { RunPurged } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import { runNamed } from './run-name.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface DeleteFlags extends HostFlags {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
}

export interface RetentionFlags extends HostFlags {
  readonly dryRun?: boolean;
}

export const deleteRun = (terminal: Terminal, name: string, flags: DeleteFlags): Promise<number> =>
  withHost(terminal, flags, async (client) => {
    const force = flags.force === true;
    const runId = await runNamed(client, name);
    const planned = await client.runs.delete(runId, { dryRun: true, force });
    if (flags.dryRun === true) return print(terminal, planned, flags);
    if (!planned.purged && flags.yes !== true && !(await isConfirmed(terminal, planned))) {
      terminal.tell('Nothing was purged.');
      return exit.refused;
    }
    return print(terminal, planned.purged ? planned : await client.runs.delete(runId, { force }), flags);
  });

async function isConfirmed(terminal: Terminal, planned: RunPurged): Promise<boolean> {
  if (!terminal.isInteractive) {
    throw usageError(
      'A purge cannot be undone, and nobody is here to confirm it.',
      'Pass --yes, or look first with --dry-run.',
    );
  }
  const question = `Purge ${safe(planned.runId)} (${sizes(planned)})? This cannot be undone. [y/N] `;
  const answer = await terminal.ask(question, new AbortController().signal);
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

function print(terminal: Terminal, answer: RunPurged, { json, dryRun }: DeleteFlags): number {
  if (json === true) terminal.print(jsonLine(answer));
  else {
    const style = styleOf(terminal.colours.out);
    const state = answer.purged ? 'is purged' : dryRun === true ? 'would be purged' : 'is being purged';
    terminal.print(`${style.green('✓')} ${safe(answer.runId)} ${state} (${sizes(answer)})`);
    if (answer.forks.length > 0) terminal.tell(`Forks that lose events: ${answer.forks.map(safe).join(', ')}`);
  }
  return exit.ok;
}

const sizes = ({ runs, events, bytes }: RunPurged): string => `runs: ${runs}, events: ${events}, bytes: ${bytes}`;

export const retention = (terminal: Terminal, flags: RetentionFlags): Promise<number> =>
  withHost(terminal, flags, async (client) => {
    const plan = await client.retention();
    if (flags.json === true) {
      terminal.print(jsonLine(flags.dryRun === true ? plan : { rules: plan.rules }));
      return exit.ok;
    }
    if (flags.dryRun === true) {
      for (const { runId, workflowId, completedAt } of plan.runs) {
        terminal.print(`${safe(runId)}  ${safe(workflowId)}  ${safe(completedAt ?? '')}`);
      }
      terminal.tell(`Root runs that would go now: ${plan.runs.length}${plan.truncated ? ' and more' : ''}`);
      return exit.ok;
    }
    for (const rule of plan.rules) terminal.print(jsonLine(rule));
    if (plan.rules.length === 0) terminal.tell('There are no rules: runs stay until somebody deletes them.');
    return exit.ok;
  });
