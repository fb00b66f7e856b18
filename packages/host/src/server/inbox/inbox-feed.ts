/** Live inboxes: one for each tenant that somebody follows, told to each follower at its own pace. */

import type { InboxChange } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import type { Commit, EventLog } from '../../log/ports/event-log.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { Ancestry } from './ancestry.ts';
import { FollowedInbox, type FollowedWorld, inboxTypes } from './followed-inbox.ts';

/** Where a follower's frames go. */
export interface InboxSink {
  /** False when it wants no more until `resume` is called. */
  write(text: string): boolean;
  /** The log could not be read on. */
  end(fault: unknown): void;
}

export interface InboxSubscription {
  resume(): void;
  close(): void;
}

export interface InboxFeedWorld {
  readonly log: EventLog;
  readonly cursors: PageCursors;
  readonly timers: Timers;
  /** Questions that are held of one tenant. Default 500. */
  readonly capacity?: number;
}

/** Changes that are kept for who comes back; who was away for longer gets all there is. */
const KEPT = 500;

/** An inbox that nobody follows is kept so long: a connection that broke comes back soon, and is told only what it missed. */
const IDLE_MS = 60_000;

/** Frames of one reading, between two places that a follower may be at. */
interface Stretch {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

export class InboxFeed {
  readonly #world: InboxFeedWorld & { readonly followed: FollowedWorld };
  readonly #tenants = new Map<string, TenantFeed>();
  #unfollow: (() => void) | null = null;

  constructor(world: InboxFeedWorld) {
    const { log, capacity = 500 } = world;
    this.#world = { ...world, followed: { log, ancestry: new Ancestry(log), capacity } };
  }

  /** Writes all there is, then each change. `lastId` is that of the last frame a follower has: then only what it missed. */
  subscribe(tenant: string, lastId: string | null, sink: InboxSink): InboxSubscription {
    this.#unfollow ??= this.#world.log.follow((commit) => this.#told(commit));
    let feed = this.#tenants.get(tenant);
    if (feed === undefined) {
      feed = new TenantFeed(tenant, this.#world, () => this.#leave(tenant));
      this.#tenants.set(tenant, feed);
    }
    return feed.join(this.#placeOf(tenant, lastId), sink);
  }

  /** An id that this host did not give to this tenant is of no use here, and all there is is. */
  #placeOf(tenant: string, lastId: string | null): string | null {
    try {
      return lastId === null ? null : (this.#world.cursors.placeOf(tenant, lastId) ?? null);
    } catch {
      return null;
    }
  }

  #told({ runId, rows }: Commit): void {
    if (!rows.some(({ type }) => inboxTypes.includes(type))) return;
    const isAsked = rows.some(({ type }) => type === 'interrupt.requested');
    for (const feed of this.#tenants.values()) if (isAsked || feed.inbox.has(runId)) feed.readOn();
  }

  #leave(tenant: string): void {
    this.#tenants.delete(tenant);
    if (this.#tenants.size > 0) return;
    this.#unfollow?.();
    this.#unfollow = null;
  }

  /** No timer is left behind. */
  close(): void {
    for (const feed of this.#tenants.values()) feed.close();
    this.#tenants.clear();
    this.#unfollow?.();
    this.#unfollow = null;
  }
}

interface Follower {
  readonly sink: InboxSink;
  /** The place it is at; null before it has anything. */
  place: string | null;
  isStalled: boolean;
}

class TenantFeed {
  readonly inbox: FollowedInbox;
  readonly #tenant: string;
  readonly #world: InboxFeedWorld;
  readonly #idle: () => void;
  readonly #followers = new Set<Follower>();
  readonly #stretches: Stretch[] = [];
  /** The place of the newest change, which what follows in the log does not move until there is another. */
  #place = '';
  #isReading = false;
  #isStale = false;
  #cancelIdle: (() => void) | null = null;

  constructor(tenant: string, world: InboxFeedWorld & { readonly followed: FollowedWorld }, idle: () => void) {
    this.inbox = new FollowedInbox(tenant, world.followed);
    this.#tenant = tenant;
    this.#world = world;
    this.#idle = idle;
  }

  join(place: string | null, sink: InboxSink): InboxSubscription {
    const follower: Follower = { sink, place, isStalled: true };
    this.#followers.add(follower);
    this.#cancelIdle?.();
    this.#cancelIdle = null;
    // Nothing is written before the inbox is level with the log as it is now.
    this.#joining.add(follower);
    this.readOn();
    return {
      resume: () => {
        if (this.#joining.has(follower)) return;
        follower.isStalled = false;
        this.#tell(follower);
      },
      close: () => this.#leave(follower),
    };
  }

  readonly #joining = new Set<Follower>();

  readOn(): void {
    this.#isStale = true;
    if (!this.#isReading) void this.#read();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        const joining = [...this.#joining];
        const told = await this.inbox.readOn();
        if ('isAfresh' in told) this.#startOver();
        else if (told.changes.length > 0) this.#add(told.changes);
        for (const follower of joining) {
          if (this.#joining.delete(follower)) follower.isStalled = false;
        }
        for (const follower of this.#followers) this.#tell(follower);
      }
    } catch (fault) {
      const followers = [...this.#followers];
      this.#followers.clear();
      this.#joining.clear();
      this.close();
      this.#idle();
      for (const { sink } of followers) sink.end(fault);
    } finally {
      this.#isReading = false;
    }
  }

  /** Whoever was somewhere else is given all there is. */
  #startOver(): void {
    this.#stretches.length = 0;
    this.#place = this.inbox.position ?? '';
  }

  #add(changes: readonly InboxChange[]): void {
    const to = this.inbox.position ?? '';
    const id = this.#idOf(to);
    const last = changes.length - 1;
    // Only the last has an id: who loses the connection between gets all of them again, and has nothing twice by that.
    const text = changes.map((change, at) => frameOf(change, at === last ? id : null)).join('');
    this.#stretches.push({ from: this.#place, to, text });
    if (this.#stretches.length > KEPT) this.#stretches.shift();
    this.#place = to;
  }

  #tell(follower: Follower): void {
    while (!follower.isStalled && follower.place !== this.#place) {
      const next = this.#stretches.find(({ from }) => from === follower.place);
      const text = next?.text ?? frameOf(this.inbox.snapshot(), this.#idOf(this.#place));
      follower.place = next?.to ?? this.#place;
      if (!follower.sink.write(text)) follower.isStalled = true;
    }
  }

  #idOf(place: string): string | null {
    return this.#world.cursors.shown(this.#tenant, place);
  }

  #leave(follower: Follower): void {
    this.#joining.delete(follower);
    if (!this.#followers.delete(follower) || this.#followers.size > 0) return;
    this.#cancelIdle = this.#world.timers.after(IDLE_MS, this.#idle);
  }

  close(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = null;
  }
}

function frameOf(change: InboxChange, id: string | null): string {
  const { type, ...body } = change;
  return `${id === null ? '' : `id: ${id}\n`}event: inbox.${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
