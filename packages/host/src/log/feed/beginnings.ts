/** The first rows of young runs. A client that starts a run follows it a moment later, and then needs no read of the log. */
import type { ContextId, RunId } from '@cairn/protocol';
import { LruMap } from '../../lru-map.ts';
import type { Commit } from '../ports/event-log.ts';
import { bodySize, type Row } from '../ports/rows.ts';

/** Of each run. A run that has more, and no subscriber yet, will probably have none. */
const MAX_ROWS = 48;
const MAX_CHARACTERS = 32_768;

/** The oldest goes first. */
const MAX_CONTEXTS = 128;

interface Beginning {
  readonly runId: RunId;
  readonly rows: Row[];
  characters: number;
}

/** By context, and only while it has one run. Once the context is followed, its ring holds what comes next. */
export class Beginnings {
  readonly #contexts = new LruMap<ContextId, Beginning>(MAX_CONTEXTS);

  /** Called with every commit of a context without subscribers, in order. */
  note({ runId, contextId, rows }: Commit): void {
    const first = rows[0]?.seq;
    if (first === 0) this.#contexts.set(contextId, { runId, rows: [], characters: 0 });
    const beginning = this.#contexts.peek(contextId);
    if (beginning === undefined) return;
    if (beginning.runId !== runId || first !== beginning.rows.length) {
      this.#contexts.delete(contextId);
      return;
    }
    for (const row of rows) {
      beginning.rows.push(row);
      beginning.characters += bodySize(row);
    }
    if (beginning.rows.length > MAX_ROWS || beginning.characters > MAX_CHARACTERS) this.#contexts.delete(contextId);
  }

  has(contextId: ContextId): boolean {
    return this.#contexts.peek(contextId) !== undefined;
  }

  /** Where a run is whose rows are all here. */
  contextOf(runId: RunId): ContextId | null {
    for (const [contextId, beginning] of this.#contexts) if (beginning.runId === runId) return contextId;
    return null;
  }

  forget(contextId: ContextId): void {
    this.#contexts.delete(contextId);
  }

  /** Every row of the run so far; null when only the log has them. Drops the context, whose ring takes over. */
  take(runId: RunId | null, contextId: ContextId): readonly Row[] | null {
    const beginning = this.#contexts.peek(contextId);
    if (beginning === undefined) return null;
    this.#contexts.delete(contextId);
    return beginning.runId === runId ? beginning.rows : null;
  }
}
