/**
 * Cancels the tasks that calls leave behind at peers, and asks again until the peer has ended them. One node of the cluster
 * does it. A restart loses none: one record of the store holds the open ones, and how far the log was searched for more.
 */
import { setImmediate } from 'node:timers/promises';
import { isCairnError, parseRunId, type RunId } from '@cairn/protocol';
import { z } from 'zod';
import type { Report, Timers } from '../../../engine/ports.ts';
import type { Commit } from '../../../log/ports/event-log.ts';
import type { Row } from '../../../log/ports/rows.ts';
import type { Store } from '../../../log/ports/store.ts';
import { backoffMs } from '../../webhooks/pump.ts';
import { StateKeeper } from '../../webhooks/state-keeper.ts';
import { END_OF_CALL, isEndOfCall, type LeftTask, leftTask } from './ended-calls.ts';

/** What a peer made of a request to cancel. `ended`: nothing is at work there any more. */
export type CancelAnswer = 'ended' | { readonly reason: string; readonly isFinal: boolean };

export interface CancelPorts {
  readonly store: Pick<Store, 'log' | 'changes' | 'subscriptions'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly report: Report;
  /** Asks the peer once. Never rejects. */
  readonly cancel: (task: LeftTask, signal: AbortSignal) => Promise<CancelAnswer>;
  /** Of the lease under which this node asks. */
  readonly fence: number;
}

/** The kind and the id of the record. */
export const CANCELS = 'a2a-cancels';

/** Requests for one task: about one and a half hours. */
const MAX_ATTEMPTS = 8;

/** Open tasks of all peers. */
const MAX_OPEN = 1_000;

/** How often the position in the log is saved while runs go on. A start reads again what follows it. */
const POSITION_EVERY_MS = 60_000;

const PAGE = 500;

const runId = z.custom<RunId>((id) => typeof id === 'string' && parseRunId(id) !== null);

const openShape = z.object({
  peer: z.string(),
  tenant: z.string(),
  taskId: z.string(),
  call: z.object({ runId, requestedSeq: z.int() }).optional(),
  attempts: z.int(),
  nextAt: z.number(),
});
const stateShape = z.object({ position: z.string(), open: z.array(openShape) });

interface OpenCancel extends LeftTask {
  attempts: number;
  nextAt: number;
}

export class PeerCancels {
  readonly #ports: CancelPorts;
  readonly #keeper: StateKeeper;
  readonly #open = new Map<string, OpenCancel>();
  readonly #stop = new AbortController();
  readonly #timers = new Set<() => void>();
  readonly #underWay = new Set<Promise<void>>();
  /** Every call that ended before it is known, or was searched for. */
  #position = '';
  /** A later position: what came before it has been heard by the next time that it is saved. */
  #nextPosition: string | null = null;
  #isOpen = false;
  #isCaughtUp = false;
  #hasTimer = false;
  #unfollow: () => void = () => {};

  constructor(ports: CancelPorts) {
    this.#ports = ports;
    const { subscriptions } = ports.store;
    this.#keeper = new StateKeeper({ ...ports, save: (id, state) => subscriptions.saveState(id, state, ports.fence) });
  }

  /** Goes on where the last host stopped. */
  async open(): Promise<void> {
    const { log, changes, subscriptions } = this.#ports.store;
    this.#unfollow = log.follow((commit) => this.#heard(commit), { types: () => [END_OF_CALL] });
    const [record] = await subscriptions.list(CANCELS);
    this.#isOpen = true;
    if (record === undefined) {
      this.#position = await changes.end();
      this.#isCaughtUp = true;
      const first = { id: CANCELS, tenant: '', kind: CANCELS, body: '{}', state: this.#text };
      await subscriptions.put(first).catch(anotherWasFirst);
      return;
    }
    const { position, open } = stateShape.parse(JSON.parse(record.state));
    this.#position = position;
    for (const one of open) this.#add(one);
    this.#track(this.#catchUp());
  }

  /** What is open is asked for again after the next start. */
  async close(): Promise<void> {
    this.#unfollow();
    if (!this.#isOpen) return;
    // The engine has stopped: nothing more arrives.
    const end = await this.#ports.store.changes.end();
    this.#stop.abort();
    for (const cancel of this.#timers) cancel();
    await Promise.all(this.#underWay);
    if (this.#isCaughtUp) this.#position = end;
    this.#save();
    await this.#keeper.flush();
    this.#keeper.close();
  }

  /** Runs inside every commit. */
  #heard({ rows }: Commit): void {
    for (const row of rows) if (isEndOfCall(row)) this.#track(this.#take(row));
    if (!this.#hasTimer) this.#savePositionLater();
  }

  async #catchUp(): Promise<void> {
    const { changes } = this.#ports.store;
    try {
      for (let after = this.#position; !this.#stop.signal.aborted; await setImmediate()) {
        const { rows, position } = await changes.read({ after, limit: PAGE, filter: null });
        for (const row of rows) if (isEndOfCall(row)) await this.#take(row);
        this.#isCaughtUp = position === after;
        if (this.#isCaughtUp) return;
        after = position;
      }
    } catch {
      // The engine reports a log that cannot be read. The position stays, so that the next start searches again.
    }
  }

  async #take(row: Row): Promise<void> {
    try {
      const left = await leftTask(this.#ports.store.log, row);
      if (left === null) return;
      if (this.#open.size >= MAX_OPEN) this.#makeRoom();
      this.#add({ ...left, attempts: 0, nextAt: this.#ports.now() });
      this.#save();
    } catch {
      // As above. The peer ends the task by its own limits.
    }
  }

  /** Of the tenant with the most, the one that was asked for most often: it is the least likely to end. */
  #makeRoom(): void {
    const byTenant = Map.groupBy(this.#open.values(), ({ tenant }) => tenant);
    const largest = [...byTenant.values()].toSorted((a, b) => b.length - a.length)[0] ?? [];
    const most = largest.toSorted((a, b) => b.attempts - a.attempts)[0];
    if (most !== undefined) this.#giveUp(most, `more than ${MAX_OPEN} tasks wait for their end`);
  }

  #add(one: OpenCancel): void {
    const key = keyOf(one);
    if (this.#open.has(key)) return;
    this.#open.set(key, { ...one });
    this.#schedule(key);
  }

  #schedule(key: string): void {
    const one = this.#open.get(key);
    if (one === undefined || this.#stop.signal.aborted) return;
    const waitMs = one.nextAt - this.#ports.now();
    if (waitMs <= 0) this.#track(this.#attempt(key));
    else this.#after(waitMs, () => this.#track(this.#attempt(key)));
  }

  async #attempt(key: string): Promise<void> {
    const one = this.#open.get(key);
    if (one === undefined) return;
    const answer = await this.#ports.cancel(one, this.#stop.signal);
    if (this.#stop.signal.aborted || !this.#open.has(key)) return;
    one.attempts += 1;
    one.nextAt = this.#ports.now() + backoffMs(one.attempts);
    if (answer === 'ended') this.#open.delete(key);
    else if (answer.isFinal || one.attempts >= MAX_ATTEMPTS) this.#giveUp(one, answer.reason);
    else this.#schedule(key);
    this.#save();
  }

  #giveUp(one: OpenCancel, message: string): void {
    const { peer, taskId, attempts } = one;
    this.#open.delete(keyOf(one));
    this.#ports.report({ level: 'warn', event: 'a2a.cancel_failed', facts: { peer, taskId, attempts, message } });
  }

  #savePositionLater(): void {
    this.#hasTimer = true;
    this.#after(POSITION_EVERY_MS, () => {
      this.#hasTimer = false;
      this.#track(this.#movePosition());
    });
  }

  async #movePosition(): Promise<void> {
    try {
      const end = await this.#ports.store.changes.end();
      if (!this.#isCaughtUp) return;
      this.#position = this.#nextPosition ?? this.#position;
      this.#nextPosition = end;
      this.#save();
    } catch {
      // It is saved the next time.
    }
  }

  get #text(): string {
    return JSON.stringify({ position: this.#position, open: [...this.#open.values()] });
  }

  #save(): void {
    this.#keeper.changed(CANCELS, () => this.#text);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #after(ms: number, wake: () => void): void {
    const cancel = this.#ports.timers.after(ms, () => {
      this.#timers.delete(cancel);
      wake();
    });
    this.#timers.add(cancel);
  }
}

/** Another node of the same store: both may ask a peer, which makes no difference to it. */
function anotherWasFirst(error: unknown): void {
  if (!isCairnError(error, 'conflict')) throw error;
}

const keyOf = ({ peer, taskId }: LeftTask): string => JSON.stringify([peer, taskId]);
