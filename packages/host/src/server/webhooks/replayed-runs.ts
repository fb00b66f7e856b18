/** Tells which runs are replays. Their events are not delivered: they happened before, in their source. */
import type { RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { LruMap } from '../../lru-map.ts';

/** Runs whose mode is known in memory. It never changes. */
const MAX_KNOWN = 10_000;

export class ReplayedRuns {
  readonly #log: Pick<EventLog, 'head'>;
  readonly #known = new LruMap<RunId, boolean>(MAX_KNOWN);

  constructor(log: Pick<EventLog, 'head'>) {
    this.#log = log;
  }

  /** Decided by the run, not by the type of its events. */
  async without(rows: readonly Row[]): Promise<readonly Row[]> {
    const kept: Row[] = [];
    for (const row of rows) if (!(this.#known.get(row.runId) ?? (await this.#look(row.runId)))) kept.push(row);
    return kept;
  }

  async #look(runId: RunId): Promise<boolean> {
    const head = await this.#log.head(runId);
    return this.#known.set(runId, head?.record.fork?.mode === 'replay');
  }
}
