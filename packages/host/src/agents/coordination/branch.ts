/** A branch of the conversation of an agent: what it heard and said in its run so far, even in the middle of a call. */
import { isJsonObject, type JsonObject } from '@cairn/protocol';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { emptyContext } from '../models/context-fold.ts';
import { conversationFor, foldRow } from '../models/conversation.ts';
import type { ModelMessage } from '../models/turn.ts';

/** The newest rows of the run, and the tokens of what they say: a side turn is short. */
const ROWS = { limit: 1_000, maxBytes: 524_288 };
const MAX_TOKENS = 16_384;

export async function branchOf(
  log: Pick<EventLog, 'read'>,
  { head: { record, seq }, agentId }: { readonly head: RunHead; readonly agentId: string },
): Promise<readonly ModelMessage[]> {
  const { runId } = record;
  const first = await log.read({ runId, after: -1, limit: 1 });
  const rows = await log.read({ runId, after: Math.max(0, seq - ROWS.limit), ...ROWS });
  const fold = emptyContext();
  for (const row of [...first, ...rows]) foldRow(fold, shared(row, agentId));
  const cutCursor = Number.MAX_SAFE_INTEGER;
  const messages = conversationFor(fold, {
    agentId,
    runId,
    group: 'shared',
    cutCursor,
    task: '',
    maxTokens: MAX_TOKENS,
  });
  return messages;
}

/** What the agent said in its own room belongs to the branch; what others said in theirs does not. */
function shared(row: Row, agentId: string): Row {
  const { type } = row;
  if (type === 'run.started') return { ...row, payload: asRoot(parsed(row)) };
  if (type !== 'agent.invocation.started') return row;
  const payload = parsed(row);
  const group = payload.agentId === agentId ? 'shared' : 'isolated';
  return { ...row, payload: JSON.stringify({ ...payload, group }) };
}

/** Whether a user or a run above it asked this run. */
const asRoot = ({ inputs }: JsonObject): string => JSON.stringify(isJsonObject(inputs) ? { inputs } : {});

const parsed = ({ payload }: Row): JsonObject => {
  const value: JsonObject = JSON.parse(payload);
  return value;
};
