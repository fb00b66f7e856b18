/** `cairn runs`: lists runs, newest first, with filters. */
import type { RunSnapshot } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { lookOf } from './render/status.ts';
import { commandIn, jsonLine, oneLine, type Style, safe, styleOf } from './render/style.ts';
import { table } from './render/table.ts';
import { ago, span } from './render/time.ts';
import { parseRunsQuery } from './runs-query.ts';
import type { Terminal } from './terminal.ts';

export interface RunsFlags extends HostFlags {
  readonly limit: number;
  readonly cursor?: string;
}

export function runs(terminal: Terminal, words: readonly string[], flags: RunsFlags): Promise<number> {
  const filter = parseRunsQuery(words);
  return withHost(terminal, flags, async (client) => {
    const { limit, cursor } = flags;
    const page = await client.runs.list({ ...filter, limit, ...(cursor === undefined ? {} : { cursor }) });
    if (flags.json === true) {
      terminal.print(jsonLine(page));
      return exit.ok;
    }
    if (page.runs.length === 0) {
      const none = `There are no runs yet. Start one with: ${commandIn(terminal.env)} run hello`;
      terminal.tell(words.length === 0 ? none : 'No run matches.');
      return exit.ok;
    }
    const style = styleOf(terminal.colours.out);
    const rows = page.runs.map((run) => listed(run, style, terminal.now()));
    const header = ['  RUN', 'WORKFLOW', 'STATUS', 'STARTED', 'TOOK', ''];
    const options = { header, style, columns: terminal.columns, wraps: true };
    for (const line of table(rows, options)) terminal.print(line);
    if (page.nextCursor !== null) {
      const more = [
        `${commandIn(terminal.env)} runs`,
        ...words,
        `--limit ${limit}`,
        `--cursor ${safe(page.nextCursor)}`,
      ].join(' ');
      terminal.tell(styleOf(terminal.colours.err).dim(`older runs: ${more}`));
    }
    return exit.ok;
  });
}

function listed(run: RunSnapshot, style: Style, now: number): readonly string[] {
  const { mark, paint } = lookOf(run.status, style);
  const started = run.startedAt === undefined ? null : Date.parse(run.startedAt);
  const took = started === null || run.completedAt === undefined ? '' : span(Date.parse(run.completedAt) - started);
  const children = run.summary?.childCount ?? 0;
  const notes = [
    ...(children === 0 ? [] : [childWords(children)]),
    ...(run.importedAt === undefined ? [] : ['imported']),
    ...(run.fork === undefined ? [] : [`${run.fork.mode} of ${safe(run.fork.sourceRunId)} at ${run.fork.fromSeq}`]),
    ...(run.tags ?? []).map((tag) => `#${safe(tag)}`),
    ...(run.error === undefined ? [] : [style.red(`${safe(run.error.code)}: ${oneLine(run.error.message)}`)]),
  ];
  const when = started === null ? '' : ago(started, now);
  return [`${mark} ${safe(run.runId)}`, safe(run.workflowId), paint(run.status), when, took, notes.join(' ')];
}

/** The host counts to 100. */
const childWords = (count: number): string =>
  count === 1 ? '1 child run' : `${count >= 100 ? '100 or more' : count} child runs`;
