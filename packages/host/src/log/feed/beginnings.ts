/** The first rows of young runs: who starts a run follows it a moment later, and then needs nothing of the log. */
import type { ContextId, RunId } from '@cairn/protocol';
import { LruMap } from '../../lru-map.ts';
import type { Commit } from '../ports/event-log.ts';
import type { Row } from '../ports/rows.ts';

/** Of each run. One that nobody followed until then is probably followed by nobody. */
const MAX_ROWS = 48;
const MAX_CHARACTERS = 32_768;

/** The oldest goes first. */
const MAX_CONTEXTS = 128;

interface Beginning {
  readonly runId: RunId;
  readonly rows: Row[];
  characters: number;
}

/** By context, and only while the context has one run: from when on it is followed, its ring has what comes next. */
export class Beginnings {
  readonly #contexts = new LruMap<ContextId, Beginning>(MAX_CONTEXTS);

  /** Told of every commit in a context that nobody follows, in order. */
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
      beginning.characters += row.payload.length + (row.task?.length ?? 0);
    }
    if (beginning.rows.length > MAX_ROWS || beginning.characters > MAX_CHARACTERS) this.#contexts.delete(contextId);
  }

  /** Every row of the run so far; null when only the log has them. Nothing of the context is kept here after that. */
  take(runId: RunId, contextId: ContextId): readonly Row[] | null {
    const beginning = this.#contexts.peek(contextId);
    if (beginning === undefined) return null;
    this.#contexts.delete(contextId);
    return beginning.runId === runId ? beginning.rows : null;
  }
}
