/** Live inboxes: one for each followed tenant, written to each subscriber at its own pace. */

import type { LoadView } from '../../engine/loading/run-view.ts';
import type { Timers } from '../../engine/ports.ts';
import type { InTurn } from '../../log/feed/feed.ts';
import type { Sink, Subscription } from '../../log/feed/sink.ts';
import type { ChangeLog } from '../../log/ports/changes.ts';
import type { Commit, EventLog } from '../../log/ports/event-log.ts';
import type { RunIndex } from '../../log/ports/run-index.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { Ancestry } from './ancestry.ts';
import { inboxTypes } from './followed-inbox.ts';
import { TenantInbox, type TenantInboxPorts } from './tenant-inbox.ts';

export interface InboxFeedOptions {
  readonly log: EventLog;
  readonly changes: ChangeLog;
  readonly runIndex: RunIndex;
  readonly loadView: LoadView;
  readonly cursors: PageCursors;
  readonly timers: Timers;
  /** Questions that are held of one tenant. Default 500. */
  readonly capacity?: number;
  /** A thousand writes take 20 ms. Default: all at once. */
  readonly inTurn?: InTurn;
}

const atOnce: InTurn = (_, work) => work();

export class InboxFeed {
  readonly #ports: TenantInboxPorts;
  readonly #log: EventLog;
  readonly #tenants = new Map<string, TenantInbox>();
  #unfollow: (() => void) | null = null;

  constructor({
    log,
    changes,
    runIndex,
    loadView,
    cursors,
    timers,
    capacity = 500,
    inTurn = atOnce,
  }: InboxFeedOptions) {
    this.#log = log;
    const followed = { log, changes, runIndex, loadView, ancestry: new Ancestry(log), capacity };
    this.#ports = { cursors, timers, inTurn, followed };
  }

  /** Writes all open questions, then each change. With the id of the last frame that a client has: what it missed. */
  subscribe(tenant: string, lastId: string | null, sink: Sink): Subscription {
    this.#unfollow ??= this.#log.follow((commit) => this.#onCommit(commit), { types: () => inboxTypes });
    let inbox = this.#tenants.get(tenant);
    if (inbox === undefined) {
      inbox = new TenantInbox(tenant, this.#ports, () => this.#forget(tenant));
      this.#tenants.set(tenant, inbox);
    }
    return inbox.subscribe(this.#placeOf(tenant, lastId), sink);
  }

  /** An id that this host did not give to this tenant says nothing: its client gets all open questions. */
  #placeOf(tenant: string, lastId: string | null): string | null {
    try {
      return lastId === null ? null : (this.#ports.cursors.placeOf(tenant, lastId) ?? null);
    } catch {
      return null;
    }
  }

  #onCommit({ runId, rows }: Commit): void {
    if (!rows.some(({ type }) => inboxTypes.includes(type))) return;
    const isAsked = rows.some(({ type }) => type === 'interrupt.requested');
    for (const inbox of this.#tenants.values()) if (isAsked || inbox.has(runId)) inbox.readOn();
  }

  #forget(tenant: string): void {
    this.#tenants.delete(tenant);
    if (this.#tenants.size > 0) return;
    this.#unfollow?.();
    this.#unfollow = null;
  }

  /** Leaves no timer behind. */
  close(): void {
    for (const inbox of this.#tenants.values()) inbox.close();
    this.#tenants.clear();
    this.#unfollow?.();
    this.#unfollow = null;
  }
}
