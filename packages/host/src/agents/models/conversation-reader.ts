/** Reads conversations out of the log: each context is folded once and then only advanced, and few are kept. */
import { type ContextId, invariant, type RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { LruMap } from '../../lru-map.ts';
import { type ContextFold, conversationFor, emptyContext, foldRow, reaches } from './conversation.ts';
import type { AgentGroup, ModelMessage } from './turn.ts';

export interface ConversationQuery {
  readonly contextId: ContextId;
  readonly runId: RunId;
  /** The conversation is what the context held before this row of the run. */
  readonly cutSeq: number;
  readonly agentId: string;
  readonly group: AgentGroup;
  readonly task: string;
  readonly maxTokens: number;
}

export interface Conversations {
  before(query: ConversationQuery): Promise<readonly ModelMessage[]>;
}

/** Contexts whose fold is kept in memory, and what all of them may hold together. */
const MAX_CONTEXTS = 200;
const MAX_CHARACTERS = 32_000_000;
const PAGE_ROWS = 1000;
const PAGE_BYTES = 4 * 1024 * 1024;

export function createConversations(log: Pick<EventLog, 'read'>): Conversations {
  const folds = new LruMap<ContextId, Kept>(MAX_CONTEXTS);

  const keptOf = (contextId: ContextId): Kept =>
    folds.get(contextId) ?? folds.set(contextId, { fold: emptyContext(), advancing: Promise.resolve() });

  /** Those that nobody asked for longest are read again should somebody ask. */
  const forget = (): void => {
    let characters = 0;
    for (const [contextId, { fold }] of [...folds].reverse()) {
      characters += fold.characters - fold.forgotten;
      if (characters > MAX_CHARACTERS) folds.delete(contextId);
    }
  };

  /** To the end of the page that holds the cursor, or no further than it. */
  const advance = async (contextId: ContextId, fold: ContextFold, to: number, isExact = false): Promise<void> => {
    while (fold.cursor < to) {
      const rows = await log.read({ contextId, afterCursor: fold.cursor, limit: PAGE_ROWS, maxBytes: PAGE_BYTES });
      if (rows.length === 0) return;
      for (const row of rows) {
        if (isExact && row.cursor > to) return;
        foldRow(fold, row);
      }
    }
  };

  /** For an invocation that began so long ago that what it heard is no longer held. */
  const refolded = async (contextId: ContextId, to: number): Promise<ContextFold> => {
    const fold = emptyContext();
    await advance(contextId, fold, to, true);
    return fold;
  };

  return {
    async before({ contextId, runId, cutSeq, ...listener }) {
      const [cut] = await log.read({ runId, after: cutSeq - 1, limit: 1 });
      invariant(cut !== undefined, 'conversation-cut-recorded', { runId, cutSeq });
      const { cursor } = cut;
      const kept = keptOf(contextId);
      // One at a time: two that advance one fold would take rows twice.
      const level = kept.advancing.then(() => advance(contextId, kept.fold, cursor));
      kept.advancing = level.catch(() => undefined);
      await level;
      forget();
      const fold = reaches(kept.fold, cursor) ? kept.fold : await refolded(contextId, cursor);
      return conversationFor(fold, { ...listener, runId, cutCursor: cursor });
    },
  };
}

interface Kept {
  readonly fold: ContextFold;
  advancing: Promise<void>;
}
