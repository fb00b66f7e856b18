/** The path from a root run to a run, from first rows alone. The ancestors of a run never change, so they are cached. */
import { foldEventOf, type InboxEntry, type PayloadOf, type RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { LruMap } from '../../lru-map.ts';

/** A run above another, and the node in it that started the next run. */
type Ancestor = InboxEntry['path'][number];

export interface Descent {
  readonly workflowId: string;
  /** A replay asks nobody: its answers come from the record. */
  readonly isReplay: boolean;
  /** From the root to the parent. */
  readonly above: readonly Ancestor[];
}

interface Known {
  readonly workflowId: string;
  readonly tenant: string;
  readonly isReplay: boolean;
  readonly parentRunId: RunId | null;
  readonly parentNodeId: string;
  readonly parentAgentId: string | null;
}

/** Runs that are cached. */
const CAPACITY = 10_000;

/** No host lets runs nest this deep; it bounds the walk in a log that says otherwise. */
const MAX_DEPTH = 1_000;

export class Ancestry {
  readonly #log: Pick<EventLog, 'head' | 'read'>;
  readonly #known = new LruMap<RunId, Known>(CAPACITY);

  constructor(log: Pick<EventLog, 'head' | 'read'>) {
    this.#log = log;
  }

  /** Null when there is no such run. */
  async descent(runId: RunId): Promise<Descent | null> {
    const own = await this.#of(runId);
    if (own === null) return null;
    const above: Ancestor[] = [];
    let lower = own;
    while (lower.parentRunId !== null && above.length < MAX_DEPTH) {
      const upper = await this.#of(lower.parentRunId);
      // An imported run may name a parent that belongs to another tenant here, or to nobody.
      if (upper === null || upper.tenant !== own.tenant) break;
      above.unshift({
        runId: lower.parentRunId,
        workflowId: upper.workflowId,
        nodeId: lower.parentNodeId,
        ...(lower.parentAgentId === null ? {} : { agentId: lower.parentAgentId }),
      });
      lower = upper;
    }
    return { workflowId: own.workflowId, isReplay: own.isReplay, above };
  }

  async #of(runId: RunId): Promise<Known | null> {
    const known = this.#known.get(runId);
    if (known !== undefined) return known;
    const read = await this.#read(runId);
    return read === null ? null : this.#known.set(runId, read);
  }

  async #read(runId: RunId): Promise<Known | null> {
    const head = await this.#log.head(runId);
    if (head === null) return null;
    const { workflowId, tenant, parentRunId, fork } = head.record;
    const started = parentRunId === null ? null : await this.#started(runId);
    return {
      workflowId,
      tenant,
      isReplay: fork?.mode === 'replay',
      parentRunId,
      parentNodeId: started?.parentNodeId ?? '',
      parentAgentId: started?.parentAgentId ?? null,
    };
  }

  async #started(runId: RunId): Promise<PayloadOf<'run.started'> | null> {
    const [first] = await this.#log.read({ runId, after: -1, limit: 1 });
    const event = first === undefined ? null : foldEventOf(first);
    return event?.type === 'run.started' ? event.payload : null;
  }
}
