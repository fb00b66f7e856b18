/** Finds entries of the inbox by number, by run and question, or by a run above them. */
import type { Client } from '@cairn/client';
import { type InboxEntry, TerminalError } from '@cairn/protocol';
import { safe } from './render/style.ts';
import { runNamed } from './run-name.ts';
import { usageError } from './usage-error.ts';

const PAGE = 200;

/** The oldest `limit` entries, and whether there are more. */
export async function inboxEntries(
  client: Client,
  limit: number,
): Promise<{ readonly entries: readonly InboxEntry[]; readonly hasMore: boolean }> {
  const entries: InboxEntry[] = [];
  let cursor: string | null = null;
  do {
    // One extra entry shows whether there are more. A page can be short or empty although more follow.
    const wanted: number = Math.min(PAGE, limit + 1 - entries.length);
    const page = await client.inbox.list({ limit: wanted, ...(cursor === null ? {} : { cursor }) });
    entries.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null && entries.length <= limit);
  return { entries: entries.slice(0, limit), hasMore: entries.length > limit };
}

/** The unique name of an entry. */
export const entryName = ({ runId, interruptId }: InboxEntry): string => `${runId}/${interruptId}`;

/** How many entries a search by name reads. */
const MAX_SEARCHED = 10_000;

/** The entry that a word names; null if the word is a run id, because a run may have several questions. */
export async function namedEntry(client: Client, name: string): Promise<InboxEntry | null> {
  if (/^(0|[1-9]\d{0,4})$/.test(name)) return numbered(client, Number(name));
  const slash = name.indexOf('/');
  const isQuestion = name.startsWith('int_') || slash > 0;
  if (!isQuestion) return null;
  const runId = slash > 0 ? await runNamed(client, name.slice(0, slash)) : null;
  const interruptId = slash > 0 ? name.slice(slash + 1) : name;
  const { entries } = await inboxEntries(client, MAX_SEARCHED);
  const found = entries.filter((one) => one.interruptId === interruptId && (runId === null || one.runId === runId));
  const [entry] = found;
  if (entry === undefined) throw notWaiting(name);
  if (found.length === 1) return entry;
  throw usageError(
    `${found.length} runs have an open question ${safe(name)}.`,
    `Name one: ${found.slice(0, 3).map(entryName).map(safe).join(', ')}${found.length > 3 ? ', …' : ''}.`,
  );
}

async function numbered(client: Client, number: number): Promise<InboxEntry> {
  const { entries } = await inboxEntries(client, number);
  const entry = entries[number - 1];
  if (entry !== undefined) return entry;
  throw new TerminalError('interrupt_not_found', {
    message: `The inbox has no entry ${number}; it ${number === 0 ? 'begins with 1' : `has ${entries.length}`}.`,
    hint: '"cairn inbox" lists them.',
  });
}

/** The open questions of the runs below a run. */
export async function below(client: Client, runId: string): Promise<readonly InboxEntry[]> {
  const { entries } = await inboxEntries(client, MAX_SEARCHED);
  return entries.filter(({ path }) => path.slice(0, -1).some((step) => !('hostId' in step) && step.runId === runId));
}

const notWaiting = (name: string): TerminalError =>
  new TerminalError('interrupt_not_found', {
    message: `There is no open question ${safe(name)}.`,
    hint: '"cairn inbox" lists the open questions; "cairn show RUN" shows answers.',
  });
