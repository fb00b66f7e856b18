/** The inbox of one tenant for all its subscribers: one reading of the log, and the latest changes as frames. */
import type { InboxChange, RunId } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import type { Chunk, Sink, Subscription } from '../../log/feed/sink.ts';
import { type Source, Subscriber } from '../../log/feed/subscriber.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { FollowedInbox, type FollowedInboxPorts, type InboxReading } from './followed-inbox.ts';

export interface TenantInboxPorts {
  readonly cursors: PageCursors;
  readonly timers: Timers;
  readonly followed: FollowedInboxPorts;
}

/** Changes kept for clients that come back; one that was away for longer gets all open questions. */
const KEPT = 500;

/** How long an inbox without subscribers is kept: a client whose connection broke comes back soon. */
const IDLE_MS = 60_000;

/** Frames of one reading, between two places that a subscriber may be at. */
interface Stretch {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

export class TenantInbox {
  readonly #tenant: string;
  readonly #ports: TenantInboxPorts;
  readonly #inbox: FollowedInbox;
  /** Called when the inbox is of no use any more. */
  readonly #forget: () => void;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stretches: Stretch[] = [];
  /** The place of the newest change; rows that change nothing do not move it. */
  #place = '';
  /** Resolved by the next reading that begins. */
  #awaited: PromiseWithResolvers<void> | null = null;
  #isReading = false;
  #isStale = false;
  #cancelIdle: (() => void) | null = null;

  constructor(tenant: string, ports: TenantInboxPorts, forget: () => void) {
    this.#tenant = tenant;
    this.#ports = ports;
    this.#inbox = new FollowedInbox(tenant, ports.followed);
    this.#forget = forget;
  }

  /** Whether a question of this run is held. */
  has(runId: RunId): boolean {
    return this.#inbox.has(runId);
  }

  /** `place` is where the client was; null when it has nothing. */
  subscribe(place: string | null, sink: Sink): Subscription {
    this.#cancelIdle?.();
    this.#cancelIdle = null;
    const subscriber = new Subscriber(sink);
    subscriber.onClose = () => this.#leave(subscriber);
    this.#subscribers.add(subscriber);
    subscriber.begin(new InboxSource(this, place));
    subscriber.pump();
    return subscriber;
  }

  /** Reads the changes of the log, and once more when it is called during a reading. */
  readOn(): void {
    this.#isStale = true;
    if (!this.#isReading) void this.#read();
  }

  /** Resolves once the inbox is level with the log as it is now. */
  level(): Promise<void> {
    this.#awaited ??= Promise.withResolvers();
    const { promise } = this.#awaited;
    this.readOn();
    return promise;
  }

  /** What a subscriber at this place is given next, and the place after it; null when it has everything. */
  after(place: string | null): { readonly text: string; readonly place: string } | null {
    if (place === this.#place) return null;
    const next = this.#stretches.find(({ from }) => from === place);
    if (next !== undefined) return { text: next.text, place: next.to };
    return { text: frameOf(this.#inbox.snapshot(), this.#idOf(this.#place)), place: this.#place };
  }

  close(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = null;
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    let awaited: PromiseWithResolvers<void> | null = null;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        awaited = this.#awaited;
        this.#awaited = null;
        this.#note(await this.#inbox.readOn());
        awaited?.resolve();
        for (const subscriber of this.#subscribers) subscriber.pump();
      }
    } catch (fault) {
      this.#fail(fault);
      // Those that wait have ended with the others.
      for (const { resolve } of [awaited, this.#awaited].filter((waiting) => waiting !== null)) resolve();
    } finally {
      this.#isReading = false;
    }
  }

  #note(reading: InboxReading): void {
    if (reading.kind === 'rebuilt') {
      // A subscriber at any earlier place gets all open questions.
      this.#stretches.length = 0;
      this.#place = this.#inbox.position ?? '';
    } else if (reading.changes.length > 0) this.#add(reading.changes);
  }

  #add(changes: readonly InboxChange[]): void {
    const to = this.#inbox.position ?? '';
    const id = this.#idOf(to);
    const last = changes.length - 1;
    // Only the last has an id: a client that loses the connection before it gets all of them again, which does no harm.
    const text = changes.map((change, at) => frameOf(change, at === last ? id : null)).join('');
    this.#stretches.push({ from: this.#place, to, text });
    if (this.#stretches.length > KEPT) this.#stretches.shift();
    this.#place = to;
  }

  /** The next subscriber of the tenant begins with an inbox of its own. */
  #fail(fault: unknown): void {
    const subscribers = [...this.#subscribers];
    this.#subscribers.clear();
    this.close();
    this.#forget();
    for (const subscriber of subscribers) subscriber.finish(fault);
  }

  #leave(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber) || this.#subscribers.size > 0) return;
    this.#cancelIdle = this.#ports.timers.after(IDLE_MS, this.#forget);
  }

  #idOf(place: string): string | null {
    return this.#ports.cursors.shown(this.#tenant, place);
  }
}

/** One subscriber's place in the inbox of its tenant. */
class InboxSource implements Source {
  readonly #inbox: TenantInbox;
  #place: string | null;
  isBehind = true;

  constructor(inbox: TenantInbox, place: string | null) {
    this.#inbox = inbox;
    this.#place = place;
  }

  next(): Chunk | null {
    const next = this.#inbox.after(this.#place);
    if (next === null) return null;
    this.#place = next.place;
    return { text: next.text, upTo: -1, urgent: true, isLast: false };
  }

  /** Catching up is the work of the inbox; from then on changes are in memory. */
  async page(): Promise<null> {
    await this.#inbox.level();
    this.isBehind = false;
    return null;
  }
}

function frameOf(change: InboxChange, id: string | null): string {
  const { type, ...body } = change;
  return `${id === null ? '' : `id: ${id}\n`}event: inbox.${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
