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
import type { InterruptRecord } from '../../log/ports/run-index.ts';
import type { Ancestry } from './ancestry.ts';
import { deciders } from './deciders.ts';

/** Characters of JSON of a question; a longer one is left out, and the client reads the interrupt itself. */
const MAX_ASKED = 16_384;
const MAX_TITLE = 500;

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
    ...(kind === 'approval' ? deciders(data, asked.votes) : {}),
    ...(isJsonObject(data.remote) ? { remote: data.remote } : {}),
    path: [...above, { runId, workflowId, nodeId, ...agentId }],
  };
}

async function isWithAgent(loadView: LoadView, { runId, interruptId }: InterruptRecord): Promise<boolean> {
  const { interrupts } = await loadView(runId);
  return Object.hasOwn(interrupts, interruptId) && interrupts[interruptId]?.withAgent === true;
}

/** Rows of earlier versions name the agent only in the data of a held decision. */
function agentOf(agentId: Json | undefined): { readonly agentId?: string } {
  return typeof agentId === 'string' ? { agentId } : {};
}

function askedOf(data: JsonObject, resumeSchema: JsonObject | undefined): Partial<InboxEntry> {
  const asked = { data, ...(resumeSchema === undefined ? {} : { resumeSchema }) };
  return JSON.stringify(asked).length > MAX_ASKED ? { isCut: true } : asked;
}

/** Cuts between characters, never inside one. */
function cut(text: string): string {
  if (text.length <= MAX_TITLE) return text;
  return `${text.slice(0, MAX_TITLE - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
