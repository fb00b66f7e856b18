/** Contexts: the conversations that runs belong to. Their runs are folds of the rows, as the run index is. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { InterruptRecord, RunRecord } from './run-index.ts';

export interface Contexts {
  /** The tenant of the runs in a context, purged ones among them; null when the context has no run. */
  tenant(contextId: ContextId): Promise<string | null>;
  /** The cursor of the newest row in a context; 0 when it has none. */
  head(contextId: ContextId): Promise<number>;
  /** The runs of a context, newest first. */
  runs(query: ContextRunsQuery): Promise<ContextRunsPage>;
  /** The local run of a context that began first and has not ended. */
  oldestOpen(contextId: ContextId): Promise<RunRecord | null>;
  /** Interrupts of a context's runs with this id, open ones first; at most two. Runs that recorded no token may share an id. */
  interrupts(contextId: ContextId, interruptId: string): Promise<readonly InterruptRecord[]>;
}

export interface ContextRunsQuery {
  readonly contextId: ContextId;
  /** Only runs of this parent, or with null only runs that have none. */
  readonly parentRunId?: RunId | null | undefined;
  /** Only local runs that have not ended. */
  readonly isOpen?: true | undefined;
  readonly limit: number;
  /** Continues after this page. */
  readonly cursor?: string | undefined;
}

export interface ContextRunsPage {
  readonly runs: readonly RunRecord[];
  readonly nextCursor: string | null;
}
