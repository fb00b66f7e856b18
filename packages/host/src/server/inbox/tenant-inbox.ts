/** The inbox of one tenant for all its subscribers: one reading of the log, and the latest changes as frames. */
import type { InboxChange, InboxEntry, RunId } from '@cairn/protocol';
import type { Timers } from '../../engine/ports.ts';
import type { InTurn } from '../../log/feed/feed.ts';
import { type Chunk, type ChunkText, chunkText, type Sink, type Subscription } from '../../log/feed/sink.ts';
import { type Source, Subscriber } from '../../log/feed/subscriber.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { FollowedInbox, type FollowedInboxPorts, type InboxReading } from './followed-inbox.ts';

export interface TenantInboxPorts {
  readonly cursors: PageCursors;
  readonly timers: Timers;
  readonly followed: FollowedInboxPorts;
  readonly inTurn: InTurn;
}

/** Readings, and their characters, kept for clients that come back; one that was away for longer gets all open questions. */
const KEPT = 500;
const KEPT_CHARACTERS = 1_048_576;

/** How long an inbox without subscribers is kept: a client whose connection broke comes back soon. */
const IDLE_MS = 60_000;

/** Frames of one reading, between two places that a subscriber may be at. */
interface Stretch {
  readonly from: string;
  readonly to: string;
  readonly frames: ChunkText;
  /** Its characters. */
  readonly size: number;
}

export class TenantInbox {
  readonly #tenant: string;
  readonly #ports: TenantInboxPorts;
  readonly #inbox: FollowedInbox;
  /** Called when the inbox is of no use any more. */
  readonly #forget: () => void;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stretches: Stretch[] = [];
  #keptCharacters = 0;
  /** All open questions, rendered once for all who begin at this place. */
  #snapshot: ChunkText | null = null;
  readonly #texts = new WeakMap<InboxEntry, string>();
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
    subscriber.inTurn = (pump) => this.#ports.inTurn(this.#tenant, pump);
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
  after(place: string | null): { readonly frames: ChunkText; readonly place: string } | null {
    if (place === this.#place) return null;
    const next = this.#stretches.find(({ from }) => from === place);
    if (next !== undefined) return { frames: next.frames, place: next.to };
    this.#snapshot ??= chunkText(this.#frameOf(this.#inbox.snapshot(), this.#idOf(this.#place)));
    return { frames: this.#snapshot, place: this.#place };
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
    this.#snapshot = null;
    if (reading.kind === 'rebuilt') {
      // A subscriber at any earlier place gets all open questions.
      this.#stretches.length = 0;
      this.#keptCharacters = 0;
      this.#place = this.#inbox.position ?? '';
    } else if (reading.changes.length > 0) this.#add(reading.changes);
  }

  #add(changes: readonly InboxChange[]): void {
    const to = this.#inbox.position ?? '';
    const id = this.#idOf(to);
    const last = changes.length - 1;
    // Only the last has an id: a client that loses the connection before it gets all of them again, which does no harm.
    const parts = changes.flatMap((change, at) => this.#frameOf(change, at === last ? id : null));
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    this.#stretches.push({ from: this.#place, to, frames: chunkText(parts), size });
    this.#keptCharacters += size;
    while (this.#stretches.length > KEPT || this.#keptCharacters > KEPT_CHARACTERS)
      this.#keptCharacters -= this.#stretches.shift()?.size ?? 0;
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

  /** A frame in parts. */
  #frameOf(change: InboxChange, id: string | null): readonly string[] {
    const head = `${id === null ? '' : `id: ${id}\n`}event: inbox.${change.type}\ndata: `;
    if (change.type !== 'snapshot') return [`${head}${this.#textOf(change)}\n\n`];
    const entries = change.entries.map((entry, at) => `${at === 0 ? '' : ','}${this.#entryText(entry)}`);
    return [`${head}{"type":"snapshot","entries":[`, ...entries, `],"complete":${change.complete}}\n\n`];
  }

  #textOf(change: Exclude<InboxChange, { type: 'snapshot' }>): string {
    if (change.type === 'removed') return JSON.stringify(change);
    return `{"type":"${change.type}","entry":${this.#entryText(change.entry)}}`;
  }

  /** An entry is in the frame that tells of it, and in every snapshot while it is open. */
  #entryText(entry: InboxEntry): string {
    const known = this.#texts.get(entry);
    if (known !== undefined) return known;
    const text = JSON.stringify(entry);
    this.#texts.set(entry, text);
    return text;
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
    return { ...next.frames, upTo: -1, urgent: true, isLast: false };
  }

  /** Catching up is the work of the inbox; from then on changes are in memory. */
  async page(): Promise<null> {
    await this.#inbox.level();
    this.isBehind = false;
    return null;
  }
}
