/** Entries of the inbox as commands name them: by number, by run and question, or by a run above. */
import type { Client } from '@cairn/client';
import { type InboxEntry, TerminalError } from '@cairn/protocol';
import { safe } from './render/style.ts';
import { usageError } from './usage-error.ts';

const PAGE = 200;

/** The oldest `limit` of what waits, and whether more does. */
export async function inboxEntries(
  client: Client,
  limit: number,
): Promise<{ readonly entries: readonly InboxEntry[]; readonly hasMore: boolean }> {
  const entries: InboxEntry[] = [];
  let cursor: string | null = null;
  do {
    // One more than is asked for tells whether there is more; a page may be short, or empty, although more follow.
    const wanted: number = Math.min(PAGE, limit + 1 - entries.length);
    const page = await client.inbox.list({ limit: wanted, ...(cursor === null ? {} : { cursor }) });
    entries.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null && entries.length <= limit);
  return { entries: entries.slice(0, limit), hasMore: entries.length > limit };
}

/** What names an entry of its own. */
export const entryName = ({ runId, interruptId }: InboxEntry): string => `${runId}/${interruptId}`;

/** As many as are looked through for a name. */
const LOOKED_THROUGH = 10_000;

/** The run and the question that a word names; null when it is the id of a run, which may ask several things. */
export async function namedEntry(client: Client, name: string): Promise<InboxEntry | null> {
  if (/^[1-9]\d{0,4}$/.test(name)) return numbered(client, Number(name));
  const slash = name.indexOf('/');
  const isQuestion = name.startsWith('int_') || slash > 0;
  if (!isQuestion) return null;
  const [runId, interruptId] = slash > 0 ? [name.slice(0, slash), name.slice(slash + 1)] : [null, name];
  const { entries } = await inboxEntries(client, LOOKED_THROUGH);
  const found = entries.filter((one) => one.interruptId === interruptId && (runId === null || one.runId === runId));
  const [entry] = found;
  if (entry === undefined) throw notWaiting(name);
  if (found.length === 1) return entry;
  throw usageError(
    `${found.length} runs wait with a question ${safe(name)}.`,
    `Say which: ${found.slice(0, 3).map(entryName).map(safe).join(', ')}${found.length > 3 ? ', …' : ''}.`,
  );
}

async function numbered(client: Client, number: number): Promise<InboxEntry> {
  const { entries } = await inboxEntries(client, number);
  const entry = entries[number - 1];
  if (entry !== undefined) return entry;
  throw new TerminalError('interrupt_not_found', {
    message: `The inbox has no entry ${number}; ${entries.length === 0 ? 'nothing waits' : `${entries.length} wait`}.`,
    hint: 'cairn inbox lists them.',
  });
}

/** What waits below a run, in runs that it started. */
export async function below(client: Client, runId: string): Promise<readonly InboxEntry[]> {
  const { entries } = await inboxEntries(client, LOOKED_THROUGH);
  return entries.filter(({ path }) => path.slice(0, -1).some((step) => step.runId === runId));
}

const notWaiting = (name: string): TerminalError =>
  new TerminalError('interrupt_not_found', {
    message: `Nothing waits under the name ${safe(name)}.`,
    hint: 'cairn inbox lists what does; an answer that was given is with its run.',
  });
