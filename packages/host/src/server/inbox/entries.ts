/** One question as the inbox shows it: from its index row, the row that asked it, and the runs above. */
import {
  foldEventOf,
  type InboxEntry,
  isJsonObject,
  isoTime,
  type Json,
  type JsonObject,
  promptOf,
} from '@cairn/protocol';
import type { LoadView } from '../../engine/loading/run-view.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { InterruptRecord, Vote } from '../../log/ports/run-index.ts';
import type { Ancestry } from './ancestry.ts';
import { deciders } from './deciders.ts';

/** Characters of JSON of a question; a longer one is left out, and the client reads the interrupt itself. */
const MAX_ASKED = 16_384;
const MAX_TITLE = 500;

/** Characters of JSON of each thing shown beside a question: its approvers, their votes, the host that asks. */
const MAX_BESIDE = 2_048;

/** No agent has a longer id. */
const MAX_AGENT_ID = 256;

export interface EntrySource {
  readonly log: Pick<EventLog, 'read'>;
  readonly ancestry: Ancestry;
  readonly loadView: LoadView;
}

/**
 * Reads the row that asked, and ancestors that are not cached. Null for a replay, when the log no longer has the question,
 * and while an agent above may still answer it.
 */
export async function entryOf(
  { log, ancestry, loadView }: EntrySource,
  asked: InterruptRecord,
): Promise<InboxEntry | null> {
  const { runId, interruptId, nodeId, requestedAt, seq } = asked;
  const descent = await ancestry.descent(runId);
  if (descent === null || descent.isReplay) return null;
  const [row] = await log.read({ runId, after: seq - 1, limit: 1 });
  const event = row === undefined ? null : foldEventOf(row);
  if (event?.type !== 'interrupt.requested') return null;
  const { kind, data = {}, resumeSchema, timeoutMs, routedTo } = event.payload;
  if (routedTo === 'agent' && (await isWithAgent(loadView, asked))) return null;
  const agentId = agentOf(event.payload.agentId ?? data.agentId);
  const { workflowId, above } = descent;
  return {
    runId,
    interruptId,
    nodeId,
    workflowId,
    kind,
    title: cut(promptOf({ kind, data })),
    ...askedOf(data, resumeSchema),
    ...agentId,
    requestedAt: isoTime(requestedAt),
    ...(timeoutMs === undefined ? {} : { expiresAt: isoTime(requestedAt + timeoutMs) }),
    ...(kind === 'approval' ? shownDeciders(data, asked.votes) : {}),
    ...(isJsonObject(data.remote) ? shownRemote(data.remote) : {}),
    path: [...above, { runId, workflowId, nodeId, ...agentId }],
  };
}

async function isWithAgent(loadView: LoadView, { runId, interruptId }: InterruptRecord): Promise<boolean> {
  const { interrupts } = await loadView(runId);
  return Object.hasOwn(interrupts, interruptId) && interrupts[interruptId]?.withAgent === true;
}

/** Rows of earlier versions name the agent only in the data of a held decision. */
function agentOf(agentId: Json | undefined): { readonly agentId?: string } {
  return typeof agentId === 'string' && agentId.length <= MAX_AGENT_ID ? { agentId } : {};
}

function askedOf(data: JsonObject, resumeSchema: JsonObject | undefined): Partial<InboxEntry> {
  const asked = { data, ...(resumeSchema === undefined ? {} : { resumeSchema }) };
  return JSON.stringify(asked).length > MAX_ASKED ? { isCut: true } : asked;
}

/** The first approvers and votes, if there are many. A list that is cut to nothing still says that the approvers are limited. */
function shownDeciders(data: JsonObject, given: readonly Vote[]): Partial<InboxEntry> {
  const { assignees, quorum } = deciders(data, given);
  const [people, votes] = [assignees && fitting(assignees), quorum && fitting(quorum.votes)];
  const isWhole = people?.length === assignees?.length && votes?.length === quorum?.votes.length;
  return {
    ...(people && { assignees: people }),
    ...(quorum && votes && { quorum: { ...quorum, votes } }),
    ...(isWhole ? {} : { isCut: true }),
  };
}

const shownRemote = (remote: JsonObject): Partial<InboxEntry> =>
  JSON.stringify(remote).length > MAX_BESIDE ? { isCut: true } : { remote };

function fitting<Item>(list: readonly Item[]): readonly Item[] {
  let left = MAX_BESIDE;
  const end = list.findIndex((item) => {
    left -= JSON.stringify(item).length + 1;
    return left < 0;
  });
  return end === -1 ? list : list.slice(0, end);
}

/** Cuts between characters, never inside one. */
function cut(text: string): string {
  if (text.length <= MAX_TITLE) return text;
  return `${text.slice(0, MAX_TITLE - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
