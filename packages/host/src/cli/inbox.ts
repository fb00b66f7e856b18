/** `cairn inbox`: what waits for a person, in any run; once, or as it changes. */
import type { Client } from '@cairn/client';
import type { InboxChange, InboxEntry } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { entryName, inboxEntries } from './inbox-entries.ts';
import { asked, INBOX_HEADER, inboxRow, way, whoAsks } from './render/inbox-line.ts';
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
    terminal.tell('Nothing waits for an answer.');
    return exit.ok;
  }
  printTable(terminal, entries);
  const { dim } = styleOf(terminal.colours.err);
  const more = hasMore ? `; more wait: cairn inbox -n ${limit * 2}` : '';
  terminal.tell(dim(`answer one by its number: cairn answer ${entries.length === 1 ? 1 : 'NUMBER'}${more}`));
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
      else for (const line of changeLines(change, known, styleOf(terminal.colours.out))) terminal.print(line);
    }
    return exit.ok;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return exit.interrupted;
  }
}

const ends = { resolved: 'is answered', expired: 'ran out of time', cancelled: 'is not asked any more' } as const;

/** What the change is to somebody who has seen all before it; nothing for what comes a second time. */
function changeLines(change: InboxChange, known: Map<string, InboxEntry>, style: Style): readonly string[] {
  switch (change.type) {
    case 'snapshot':
      return snapshotLines(change.entries, known, style);
    case 'removed': {
      const name = `${change.runId}/${change.interruptId}`;
      const entry = known.get(name);
      known.delete(name);
      return entry === undefined ? [] : [style.dim(`- ${whoAsks(entry)}: ${asked(entry, 60)} ${ends[change.end]}`)];
    }
    default: {
      const name = entryName(change.entry);
      const before = known.get(name);
      known.set(name, change.entry);
      return JSON.stringify(before) === JSON.stringify(change.entry) ? [] : entryLines(change.entry, style, before);
    }
  }
}

/** After a connection that broke for long it says only what is new. */
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
    lines.push(style.dim(`- ${whoAsks(entry)}: ${asked(entry, 60)} does not wait any more`));
  }
  for (const entry of entries) lines.push(...changeLines({ type: 'added', entry }, known, style));
  return lines.length === 0 && isFirst ? [style.dim('nothing waits; what comes is shown here')] : lines;
}

function entryLines(entry: InboxEntry, style: Style, before: InboxEntry | undefined): readonly string[] {
  const { quorum } = entry;
  const voted = quorum === undefined ? '' : style.dim(`  ${quorum.approvals} of ${quorum.required} approved`);
  const mark = before === undefined ? style.yellow('?') : style.dim('~');
  return [
    `${mark} ${style.bold(whoAsks(entry))} ${asked(entry, 200)}${voted}`,
    style.dim(`    ${way(entry)}   cairn answer ${safe(entryName(entry))}`),
  ];
}
