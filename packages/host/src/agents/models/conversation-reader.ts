/**
 * Reads conversations from the log. It folds each context once, then advances the fold, and caches a limited number.
 * The conversation of a fork goes on from that of its source, up to the cut.
 */
import { type ContextId, invariant, type RunId } from '@cairn/protocol';
import { contextHistory, type HistoryPart } from '../../log/ports/context-history.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { SharedLruMap } from '../../shared-lru-map.ts';
import { type ContextFold, emptyContext, type RunName } from './context-fold.ts';
import { conversationFor, foldRow, reaches, weightOf } from './conversation.ts';
import type { AgentGroup, ModelMessage } from './turn.ts';

export interface ConversationQuery {
  /** Who pays for what is kept of it. */
  readonly tenant: string;
  readonly contextId: ContextId;
  readonly runId: RunId;
  /** The conversation ends before this row of the run. */
  readonly cutSeq: number;
  readonly agentId: string;
  readonly group: AgentGroup;
  readonly task: string;
  readonly maxTokens: number;
}

export interface Conversations {
  before(query: ConversationQuery): Promise<readonly ModelMessage[]>;
}

/** What all cached contexts hold together, in characters. The tenant with the most of it makes room. */
const MAX_CHARACTERS = 32_000_000;
/** An imported run may name any context. Its messages must never reach the agents of that context. */
const PAGE = { limit: 1000, maxBytes: 524_288, isLocal: true } as const;

export function createConversations(log: Pick<EventLog, 'read' | 'head'>): Conversations {
  const folds = new SharedLruMap<ContextId, Kept>({ capacity: MAX_CHARACTERS, weigh: ({ fold }) => weightOf(fold) });

  /** Whether an earlier part of the history does not have the row: a fork also has those that it shares with its source. */
  const isNew = async (fold: ContextFold, row: Row, isFirst: boolean): Promise<boolean> => {
    const run = fold.names.get(row.runId) ?? (await nameOf(log, row.runId));
    fold.names.set(row.runId, run);
    return isFirst || row.seq >= run.ownFrom;
  };

  /** Advances to the end of the page that holds the cursor, but not beyond a part. */
  const advance = async (fold: ContextFold, parts: readonly HistoryPart[], to: number): Promise<void> => {
    for (const [i, { contextId, through }] of parts.entries()) {
      while (fold.cursor < Math.min(to, through)) {
        const rows = await log.read({ contextId, afterCursor: fold.cursor, ...PAGE });
        const inside = rows.filter(({ cursor }) => cursor <= through);
        for (const row of inside) {
          if (parts.length === 1 || (await isNew(fold, row, i === 0))) foldRow(fold, row);
          fold.cursor = row.cursor;
        }
        if (rows.length === 0 || inside.length < rows.length) break;
      }
      if (to <= through) return;
      fold.cursor = Math.max(fold.cursor, through);
    }
  };

  /** Folds from the start for an old invocation whose messages the cached fold has dropped. */
  const refolded = async (parts: readonly HistoryPart[], to: number): Promise<ContextFold> => {
    const fold = emptyContext();
    const exact = parts.map((part) => ({ ...part, through: Math.min(part.through, to) }));
    await advance(fold, exact, to);
    return fold;
  };

  const advanced = async (kept: Kept, contextId: ContextId, to: number): Promise<readonly HistoryPart[]> => {
    kept.parts ??= await contextHistory(log, contextId);
    await advance(kept.fold, kept.parts, to);
    return kept.parts;
  };

  return {
    async before({ tenant, contextId, runId, cutSeq, ...listener }) {
      // An isolated agent starts with its own task alone, so there is nothing to read.
      if (listener.group === 'isolated') return [];
      const [cut] = await log.read({ runId, after: cutSeq - 1, limit: 1 });
      invariant(cut !== undefined, 'conversation-cut-recorded', { runId, cutSeq });
      const { cursor } = cut;
      const kept = folds.get(contextId) ?? folds.set(contextId, newContext(), tenant);
      // Serialized: two concurrent readers of one fold would fold rows twice.
      const level = kept.advancing.then(() => advanced(kept, contextId, cursor));
      kept.advancing = level.catch(() => undefined);
      const parts = await level;
      // The fold has grown. A context that is evicted for it is read from the log again.
      folds.set(contextId, kept, tenant);
      const fold = reaches(kept.fold, cursor) ? kept.fold : await refolded(parts, cursor);
      return conversationFor(fold, { ...listener, runId, cutCursor: cursor });
    },
  };
}

/** A fork and its source are one speaker. A run that was purged meanwhile keeps its own id. */
async function nameOf(log: Pick<EventLog, 'head'>, runId: RunId): Promise<RunName> {
  const record = (await log.head(runId))?.record;
  return { name: record?.originRunId ?? runId, ownFrom: record?.fork?.fromSeq ?? 0 };
}

interface Kept {
  readonly fold: ContextFold;
  /** Null until the first read. */
  parts: readonly HistoryPart[] | null;
  advancing: Promise<unknown>;
}

const newContext = (): Kept => ({ fold: emptyContext(), parts: null, advancing: Promise.resolve() });
