/**
 * Turns of a conversation: a message that comes while a task is open waits as a run that is held back, and goes on when
 * the context is free. What waits is in the log, so that it survives a restart.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ContextId, isTerminalType, type RunId } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import type { Report } from '../../engine/ports.ts';
import type { Commit } from '../../log/ports/event-log.ts';
import { runBounds } from '../../log/ports/run-bounds.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import type { Store } from '../../log/ports/store.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';

export interface TurnPorts {
  readonly engine: Pick<Engine, 'resume'>;
  readonly store: Pick<Store, 'log' | 'runIndex' | 'contexts' | 'retention'>;
  readonly report: Report;
  readonly clusterNode: Pick<ClusterNode, 'alone'>;
}

/** The tag of a run that waits for its turn, or did. */
export const QUEUED_TAG = 'cairn.queued';

const PAGE = 100;

/** Open root tasks that are looked at. Runs of another kind can make a context have thousands of them. */
const LOOKED_AT = 500;

/** The newest open root tasks of a context. */
export interface OpenTasks {
  /** The oldest of them that is at work or waits for somebody. */
  readonly active: RunRecord | null;
  /** Oldest first. */
  readonly queued: readonly RunRecord[];
}

export const isQueued = ({ status, tags }: Pick<RunRecord, 'status' | 'tags'>): boolean =>
  status === 'paused' && tags.includes(QUEUED_TAG);

export class ContextTurns {
  readonly #ports: TurnPorts;
  /** Contexts in which something waits. */
  readonly #waiting = new Set<ContextId>();
  #unfollow: (() => void) | null = null;

  constructor(ports: TurnPorts) {
    this.#ports = ports;
  }

  /** Finds what waited when the host stopped. */
  async open(): Promise<void> {
    const { log, retention } = this.#ports.store;
    this.#unfollow = log.follow((commit) => this.#onCommit(commit), {
      waits: ({ contextId }) => this.#waiting.has(contextId),
      types: () => runBounds,
    });
    let tenant: string | null = null;
    for (let group = await retention.nextGroup(null); group !== null; group = await retention.nextGroup(group)) {
      if (group.tenant === tenant) continue;
      tenant = group.tenant;
      for (const contextId of await this.#waitingOf(tenant)) {
        this.#settle(contextId);
        // There may be thousands of them.
        await nextTurn();
      }
    }
  }

  close(): void {
    this.#unfollow?.();
  }

  /** Runs work without another message of the context in between. */
  alone<Result>(contextId: ContextId, work: () => Promise<Result>): Promise<Result> {
    return this.#ports.clusterNode.alone(`context ${contextId}`, work);
  }

  /** To be called after a run was held back in the context. */
  waits(contextId: ContextId): void {
    this.#waiting.add(contextId);
    // The task that it waited for may have ended meanwhile.
    this.#settle(contextId);
  }

  async openTasks(contextId: ContextId): Promise<OpenTasks> {
    return this.#openTasks(contextId, (looked) => looked >= LOOKED_AT);
  }

  /** Goes on until a task is active and enough were looked at. */
  async #openTasks(contextId: ContextId, isEnough: (looked: number) => boolean): Promise<OpenTasks> {
    const { contexts } = this.#ports.store;
    let active: RunRecord | null = null;
    const queued: RunRecord[] = [];
    let looked = 0;
    let cursor: string | undefined;
    do {
      // The index answers at once, and any caller can have thousands of runs wait.
      if (looked > 0) await nextTurn();
      const page = await contexts.runs({ contextId, parentRunId: null, isOpen: true, limit: PAGE, cursor });
      for (const run of page.runs) {
        if (isQueued(run)) queued.unshift(run);
        else active = run;
      }
      looked += page.runs.length;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && (active === null || !isEnough(looked)));
    return { active, queued };
  }

  async #waitingOf(tenant: string): Promise<ReadonlySet<ContextId>> {
    const contexts = new Set<ContextId>();
    const { runIndex } = this.#ports.store;
    let cursor: string | undefined;
    do {
      const page = await runIndex.list({ tenant, tag: QUEUED_TAG, status: 'paused', limit: PAGE, cursor });
      for (const { contextId } of page.runs) contexts.add(contextId);
      cursor = page.nextCursor ?? undefined;
      if (cursor !== undefined) await nextTurn();
    } while (cursor !== undefined);
    for (const contextId of contexts) this.#waiting.add(contextId);
    return contexts;
  }

  /** Every node knows what waits, so that it goes on when the node that took the message is gone. */
  #onCommit({ contextId, rows }: Commit): void {
    if (rows[0]?.seq === 0 && rows[0].payload.includes(`"${QUEUED_TAG}"`)) this.#waiting.add(contextId);
    if (!this.#waiting.has(contextId)) return;
    if (rows.some(({ type }) => isTerminalType(type))) this.#settle(contextId);
  }

  #settle(contextId: ContextId): void {
    this.alone(contextId, () => this.#next(contextId)).catch((error: unknown) => {
      this.#ports.report({ level: 'error', event: 'context.turn_failed', facts: { contextId }, error });
    });
  }

  /** Lets the oldest waiting task go on if the context is free. */
  async #next(contextId: ContextId): Promise<void> {
    const { active, queued } = await this.#openTasks(contextId, () => true);
    if (active !== null) return;
    const [first] = queued;
    if (first === undefined) {
      this.#waiting.delete(contextId);
      return;
    }
    await this.#ports.engine.resume({ tenant: first.tenant, runId: first.runId as RunId, reason: 'its turn' });
  }
}
