/** The path from a root run to a run, from first rows alone. The ancestors of a run never change, so they are cached. */
import {
  foldEventOf,
  type InboxEntry,
  type LocalParent,
  parentOf,
  type RemoteParent,
  type RunId,
  type RunParent,
} from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { LruMap } from '../../lru-map.ts';

/** A run above another, and the node in it that started the next run; or the run of another host above all of them. */
type Ancestor = InboxEntry['path'][number];

export interface Descent {
  readonly workflowId: string;
  /** A replay asks no question: its answers come from the record. */
  readonly isReplay: boolean;
  /** From the root to the parent. */
  readonly above: readonly Ancestor[];
}

interface Known {
  readonly workflowId: string;
  readonly tenant: string;
  readonly isReplay: boolean;
  readonly parent: LocalParent | null;
  /** The run of another host that requested it. */
  readonly remote: Ancestor | null;
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
    while (lower.parent !== null && above.length < MAX_DEPTH) {
      const { parent } = lower;
      const upper = await this.#of(parent.runId);
      // An imported run may name a parent that belongs to another tenant here, or to none.
      if (upper === null || upper.tenant !== own.tenant) break;
      above.unshift({
        runId: parent.runId,
        workflowId: upper.workflowId,
        nodeId: parent.nodeId ?? '',
        ...(parent.agentId === undefined ? {} : { agentId: parent.agentId }),
      });
      lower = upper;
    }
    if (lower.remote !== null) above.unshift(lower.remote);
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
    const recorded = await this.#parentIn(runId);
    const { nodeId, agentId } = recorded?.kind === 'local' ? recorded : {};
    return {
      workflowId,
      tenant,
      isReplay: fork?.mode === 'replay',
      // The first event of a fork is that of its source, whose parent is not the parent of the fork.
      parent: parentRunId === null ? null : { runId: parentRunId, nodeId, agentId },
      remote: recorded?.kind === 'remote' && fork === null ? remoteStep(recorded) : null,
    };
  }

  async #parentIn(runId: RunId): Promise<RunParent | null> {
    const [first] = await this.#log.read({ runId, after: -1, limit: 1 });
    const event = first === undefined ? null : foldEventOf(first);
    return event?.type === 'run.started' ? parentOf(event.payload) : null;
  }
}

const remoteStep = ({ runId, hostId, cause, agentId }: RemoteParent): Ancestor => ({
  runId,
  hostId,
  cause,
  ...(agentId === undefined ? {} : { agentId }),
});
