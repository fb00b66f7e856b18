/** One question as the inbox shows it, from its index row, the row that asked it, and the runs above. */
import { type ApprovalData, type InboxEntry, isoTime, type JsonObject, promptOf } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { InterruptRecord, Vote } from '../../log/ports/run-index.ts';
import type { Ancestry } from './ancestry.ts';

/** Characters of JSON of what is asked; more is left to who reads the question itself. */
const MAX_ASKED = 16_384;
const MAX_TITLE = 500;

export interface EntrySource {
  readonly log: Pick<EventLog, 'read'>;
  readonly ancestry: Ancestry;
}

/** Reads one row, and of the runs above what is not known yet. Null when the log no longer has the question. */
export async function entryOf({ log, ancestry }: EntrySource, asked: InterruptRecord): Promise<InboxEntry | null> {
  const { runId, interruptId, nodeId, requestedAt, seq } = asked;
  const descent = await ancestry.descent(runId);
  const [row] = await log.read({ runId, after: seq - 1, limit: 1 });
  if (descent === null || row?.type !== 'interrupt.requested') return null;
  const payload = JSON.parse(row.payload) as JsonObject;
  const data = (payload.data ?? {}) as JsonObject;
  const kind = asked.kind as InboxEntry['kind'];
  const agentId = agentOf(payload, data);
  const { workflowId, above } = descent;
  return {
    runId,
    interruptId,
    nodeId,
    workflowId,
    kind,
    title: cut(promptOf({ kind, data })),
    ...askedOf(data, payload.resumeSchema as JsonObject | undefined),
    ...agentId,
    requestedAt: isoTime(requestedAt),
    ...(typeof payload.timeoutMs === 'number' ? { expiresAt: isoTime(requestedAt + payload.timeoutMs) } : {}),
    ...(kind === 'approval' ? deciders(data as unknown as ApprovalData, asked.votes) : {}),
    path: [...above, { runId, workflowId, nodeId, ...agentId }],
  };
}

/** Runs of earlier versions have it only where a decision is held. */
function agentOf(payload: JsonObject, data: JsonObject): { readonly agentId?: string } {
  const agentId = payload.agentId ?? data.agentId;
  return typeof agentId === 'string' ? { agentId } : {};
}

function askedOf(data: JsonObject, resumeSchema: JsonObject | undefined): Partial<InboxEntry> {
  const asked = { data, ...(resumeSchema === undefined ? {} : { resumeSchema }) };
  return JSON.stringify(asked).length > MAX_ASKED ? { isCut: true } : asked;
}

/** Who may decide, and how far several have come. */
function deciders(gate: ApprovalData, votes: readonly Vote[]): Partial<InboxEntry> {
  const { approversList = [], requiredApprovals: required = 1 } = gate;
  const rejections = votes.filter(({ action }) => action === 'reject').length;
  return {
    ...(approversList.length === 0 ? {} : { assignees: approversList }),
    ...(required === 1 && approversList.length === 0
      ? {}
      : {
          quorum: {
            required,
            approvals: votes.length - rejections,
            rejections,
            votes: votes.map((vote) => ({ ...vote })),
          },
        }),
  };
}

/** Between characters, never inside one. */
function cut(text: string): string {
  if (text.length <= MAX_TITLE) return text;
  return `${text.slice(0, MAX_TITLE - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
