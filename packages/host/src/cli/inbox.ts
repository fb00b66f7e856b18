/** `cairn inbox`: lists the questions that wait for a person, once or live. */
import type { Client } from '@cairn/client';
import type { InboxChange, InboxEntry } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { entryName, inboxEntries } from './inbox-entries.ts';
import { askerName, INBOX_HEADER, inboxRow, pathText, questionText } from './render/inbox-line.ts';
import { jsonLine, type Style, safe, styleOf } from './render/style.ts';
import { table } from './render/table.ts';
import type { Terminal } from './terminal.ts';

export interface InboxFlags extends HostFlags {
  readonly limit: number;
  readonly watch?: boolean;
}

export function inbox(terminal: Terminal, flags: InboxFlags): Promise<number> {
  return withHost(terminal, flags, (client) =>
    flags.watch === true ? watched(terminal, client, flags) : listed(terminal, client, flags),
  );
}

async function listed(terminal: Terminal, client: Client, { limit, json }: InboxFlags): Promise<number> {
  const { entries, hasMore } = await inboxEntries(client, limit);
  if (json === true) {
    terminal.print(jsonLine({ entries, hasMore }));
    return exit.ok;
  }
  if (entries.length === 0) {
    terminal.tell('No question is waiting.');
    return exit.ok;
  }
  printTable(terminal, entries);
  const { dim, cairn } = styleOf(terminal.colours.err, terminal.env);
  const more = hasMore ? `; show more: ${cairn} inbox -n ${limit * 2}` : '';
  terminal.tell(dim(`answer by number: ${cairn} answer ${entries.length === 1 ? 1 : 'NUMBER'}${more}`));
  return exit.ok;
}

function printTable(terminal: Terminal, entries: readonly InboxEntry[]): void {
  const style = styleOf(terminal.colours.out);
  const rows = entries.map((entry, i) => inboxRow(entry, i + 1, style, terminal.now()));
  for (const line of table(rows, { header: INBOX_HEADER, style, columns: terminal.columns })) terminal.print(line);
}

async function watched(terminal: Terminal, client: Client, { json }: InboxFlags): Promise<number> {
  const stop = new AbortController();
  terminal.onSignal(() => stop.abort());
  const known = new Map<string, InboxEntry>();
  try {
    for await (const change of client.inbox.watch({ signal: stop.signal })) {
      if (json === true) terminal.print(jsonLine(change));
      else
        for (const line of changeLines(change, known, styleOf(terminal.colours.out, terminal.env)))
          terminal.print(line);
    }
    return exit.ok;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return exit.interrupted;
  }
}

const ends = { resolved: 'was answered', expired: 'has expired', cancelled: 'was cancelled' } as const;

/** The lines for a change. A repeated change has none. */
function changeLines(change: InboxChange, known: Map<string, InboxEntry>, style: Style): readonly string[] {
  switch (change.type) {
    case 'snapshot':
      return snapshotLines(change.entries, known, style);
    case 'removed': {
      const name = `${change.runId}/${change.interruptId}`;
      const entry = known.get(name);
      known.delete(name);
      return entry === undefined
        ? []
        : [style.dim(`- ${askerName(entry)}: ${questionText(entry, 60)} ${ends[change.end]}`)];
    }
    default: {
      const name = entryName(change.entry);
      const before = known.get(name);
      known.set(name, change.entry);
      return JSON.stringify(before) === JSON.stringify(change.entry) ? [] : entryLines(change.entry, style, before);
    }
  }
}

/** After a long disconnect, only the differences are shown. */
function snapshotLines(
  entries: readonly InboxEntry[],
  known: Map<string, InboxEntry>,
  style: Style,
): readonly string[] {
  const names = new Set(entries.map(entryName));
  const isFirst = known.size === 0;
  const lines: string[] = [];
  for (const [name, entry] of known) {
    if (names.has(name)) continue;
    known.delete(name);
    lines.push(style.dim(`- ${askerName(entry)}: ${questionText(entry, 60)} is no longer open`));
  }
  for (const entry of entries) lines.push(...changeLines({ type: 'added', entry }, known, style));
  return lines.length === 0 && isFirst ? [style.dim('no question is waiting; new ones appear here')] : lines;
}

function entryLines(entry: InboxEntry, style: Style, before: InboxEntry | undefined): readonly string[] {
  const { quorum } = entry;
  const voted = quorum === undefined ? '' : style.dim(`  ${quorum.approvals} of ${quorum.required} approved`);
  const mark = before === undefined ? style.yellow('?') : style.dim('~');
  return [
    `${mark} ${style.bold(askerName(entry))} ${questionText(entry, 200)}${voted}`,
    style.dim(`    ${pathText(entry)}   ${style.cairn} answer ${safe(entryName(entry))}`),
  ];
}
