/**
 * Reads conversations from the log. It folds each context once, then advances the fold, and caches a limited number.
 */
import { type ContextId, invariant, type RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { SharedLruMap } from '../../shared-lru-map.ts';
import { type ContextFold, conversationFor, emptyContext, foldRow, reaches, weightOf } from './conversation.ts';
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
/** An imported run may name any context. What it says must never reach the agents that talk there. */
const PAGE = { limit: 1000, maxBytes: 524_288, isLocal: true } as const;

export function createConversations(log: Pick<EventLog, 'read'>): Conversations {
  const folds = new SharedLruMap<ContextId, Kept>({ capacity: MAX_CHARACTERS, weigh: ({ fold }) => weightOf(fold) });

  /** Advances to the end of the page that holds the cursor, or exactly to the cursor. */
  const advance = async (contextId: ContextId, fold: ContextFold, to: number, isExact = false): Promise<void> => {
    while (fold.cursor < to) {
      const rows = await log.read({ contextId, afterCursor: fold.cursor, ...PAGE });
      if (rows.length === 0) return;
      for (const row of rows) {
        if (isExact && row.cursor > to) return;
        foldRow(fold, row);
      }
    }
  };

  /** Folds from the start for an old invocation whose messages the cached fold has dropped. */
  const refolded = async (contextId: ContextId, to: number): Promise<ContextFold> => {
    const fold = emptyContext();
    await advance(contextId, fold, to, true);
    return fold;
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
      const level = kept.advancing.then(() => advance(contextId, kept.fold, cursor));
      kept.advancing = level.catch(() => undefined);
      await level;
      // It weighs more now. Whoever it makes room for reads its own context from the log again.
      folds.set(contextId, kept, tenant);
      const fold = reaches(kept.fold, cursor) ? kept.fold : await refolded(contextId, cursor);
      return conversationFor(fold, { ...listener, runId, cutCursor: cursor });
    },
  };
}

interface Kept {
  readonly fold: ContextFold;
  advancing: Promise<void>;
}

const newContext = (): Kept => ({ fold: emptyContext(), advancing: Promise.resolve() });
