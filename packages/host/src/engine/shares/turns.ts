/**
 * Decides which run steps next. Turns go round-robin over tenants, then in order of arrival, in slices that end before
 * other work of the event loop is late. While no run waits, a turn costs one reading of the clock.
 */
import type { EventLoop } from '../ports.ts';
import { TurnRing, Waiter } from './turn-ring.ts';

/**
 * How long turns are given before the event loop gets to timers and sockets: while one tenant is at work, and while
 * several are. Shorter slices cost throughput, because they leave fewer rows for each transaction.
 */
const SLICE_MS = 8;
const SHARED_SLICE_MS = 1;

/** Time after a slice in which a command may still go on at once, if no other one waits, and the first of a tenant. */
const COMMAND_MS = 2;

/** The host counts as shared for this long after two tenants took turns. */
const SHARED_FOR_MS = 1_000;

/**
 * Characters of rows that wait for their commit: of the host while one tenant is at work, and of each tenant while several
 * are. Above it, runs wait before they compose more: the rows of the tenant's own commands wait behind them.
 */
const MAX_UNCOMMITTED = 524_288;
const MAX_SHARED_UNCOMMITTED = 16_384;

/**
 * Most rows of one append. Fewer on a shared host, because no other run steps while they are composed, and in a shared
 * store, because other commits wait while they are flushed.
 */
const MAX_ROWS = 256;
const MAX_SHARED_ROWS = 32;

/** A caller waits for a `command` and for a `start`. No caller waits for a `step`. */
export type Urgency = 'command' | 'start' | 'step';

/** What this node and the others of its store say of tenants at work. */
export interface TenantsAtWork {
  tookTurn(tenant: string): void;
  /** Whether another tenant is at work on another node. */
  isStoreShared(tenant: string): boolean;
}

export class Turns {
  readonly #loop: EventLoop | null;
  readonly #atWork: TenantsAtWork | null;
  readonly #rings = { command: new TurnRing(), start: new TurnRing(), step: new TurnRing() };
  #uncommitted = 0;
  readonly #uncommittedOf = new Map<string, number>();
  #waiting = 0;
  #waitingCallers = 0;
  #sliceEnd = Number.NEGATIVE_INFINITY;
  #isShared = false;
  /** Whether the host is shared, or its store is with a tenant on another node. */
  #isStoreShared = false;
  /** The event loop will call back for the next slice. */
  #isArmed = false;
  #isGiving = false;
  /** The last turn went to a caller. A step without a caller is next, so that callers do not starve steps. */
  #wasCaller = false;
  /** Tenants with a turn in this slice. The first of a tenant does not wait for the backlog of the others. */
  readonly #served = new Set<string>();
  #lastTenant: string | null = null;
  #sharedUntil = Number.NEGATIVE_INFINITY;

  /** Without an event loop, no run waits. */
  constructor(loop: EventLoop | null, atWork: TenantsAtWork | null = null) {
    this.#loop = loop;
    this.#atWork = atWork;
  }

  get maxRows(): number {
    return this.#isStoreShared ? MAX_SHARED_ROWS : MAX_ROWS;
  }

  /** Takes a turn. Returns null if it has come already. */
  take(tenant: string, urgency: Urgency): Waiter | null {
    const loop = this.#loop;
    if (loop === null) return null;
    const now = loop.elapsedMs();
    if (!this.#isArmed) this.#beginSlice(loop, now);
    if (this.#isNow(tenant, urgency, now)) {
      this.#took(tenant, now);
      return null;
    }
    const waiter = new Waiter(tenant);
    this.#waiting += 1;
    this.#add(waiter, urgency);
    return waiter;
  }

  /** A caller now waits for what this waiter will do. */
  hurry(waiter: Waiter): void {
    if (!waiter.hasTurn && !waiter.isCaller) this.#add(waiter, 'command');
  }

  /** Counts rows that wait for their commit. */
  composed(tenant: string, size: number): void {
    this.#uncommitted += size;
    this.#uncommittedOf.set(tenant, (this.#uncommittedOf.get(tenant) ?? 0) + size);
  }

  /** The commit of these rows succeeded or failed. */
  committed(tenant: string, size: number): void {
    this.#uncommitted -= size;
    const left = (this.#uncommittedOf.get(tenant) ?? 0) - size;
    if (left > 0) this.#uncommittedOf.set(tenant, left);
    else this.#uncommittedOf.delete(tenant);
    if (this.#loop === null || this.#waiting === 0 || this.#isGiving) return;
    if (!this.#isArmed) this.#beginSlice(this.#loop, this.#loop.elapsedMs());
    this.#giveNext();
  }

  #isNow(tenant: string, urgency: Urgency, now: number): boolean {
    if (urgency !== 'step' && this.#waitingCallers === 0) return now < this.#sliceEnd + COMMAND_MS;
    if (urgency === 'step' && !this.#mayCompose(tenant)) return false;
    if (urgency === 'step' && this.#waiting === 0 && now < this.#sliceEnd) return true;
    return now < this.#sliceEnd + COMMAND_MS && !this.#served.has(tenant) && !this.#hasWaiters(tenant);
  }

  #hasWaiters(tenant: string): boolean {
    const { command, start, step } = this.#rings;
    return command.has(tenant) || start.has(tenant) || step.has(tenant);
  }

  #add(waiter: Waiter, urgency: Urgency): void {
    this.#rings[urgency].add(waiter);
    if (urgency === 'step') return;
    waiter.isCaller = true;
    this.#waitingCallers += 1;
  }

  #beginSlice(loop: EventLoop, now: number): void {
    this.#isShared = now < this.#sharedUntil;
    this.#isStoreShared = this.#isShared || this.#atWork?.isStoreShared(this.#lastTenant ?? '') === true;
    this.#sliceEnd = now + (this.#isShared ? SHARED_SLICE_MS : SLICE_MS);
    this.#served.clear();
    this.#isArmed = true;
    loop.nextTurn(this.#nextSlice);
  }

  readonly #nextSlice = (): void => {
    this.#isArmed = false;
    const loop = this.#loop;
    const waiter = this.#waiting === 0 ? null : this.#pick();
    // If the waiters wait for a commit, that commit begins the next slice.
    if (loop === null || waiter === null) return;
    this.#beginSlice(loop, loop.elapsedMs());
    this.#give(waiter);
  };

  /** Gives one turn after the other: each has composed its rows before the next is given. */
  readonly #giveNext = (): void => {
    this.#isGiving = false;
    const isOver = this.#loop === null || this.#loop.elapsedMs() >= this.#sliceEnd;
    const waiter = isOver || this.#waiting === 0 ? null : this.#pick();
    if (waiter !== null) this.#give(waiter);
  };

  #give(waiter: Waiter): void {
    this.#isGiving = true;
    this.#waiting -= 1;
    if (waiter.isCaller) this.#waitingCallers -= 1;
    this.#wasCaller = waiter.isCaller;
    this.#took(waiter.tenant, this.#loop?.elapsedMs() ?? 0);
    waiter.give();
    // The waiter's own reaction to the promise is older, so it runs first.
    waiter.turn.then(this.#giveNext);
  }

  #pick(): Waiter | null {
    const { command, start, step } = this.#rings;
    const first = this.#wasCaller ? step.next(this.#mayCompose) : null;
    return first ?? command.next() ?? start.next() ?? step.next(this.#mayCompose);
  }

  /**
   * Tenants take turns in commits, so on a shared host the waiting commits of others delay no tenant. A database that nodes
   * share gives no turns: what a tenant has it write at once, those on other nodes wait for.
   */
  readonly #mayCompose = (tenant: string): boolean => {
    if (this.#isStoreShared) return (this.#uncommittedOf.get(tenant) ?? 0) < MAX_SHARED_UNCOMMITTED;
    return this.#uncommitted < MAX_UNCOMMITTED;
  };

  #took(tenant: string, now: number): void {
    if (this.#lastTenant !== null && this.#lastTenant !== tenant) this.#sharedUntil = now + SHARED_FOR_MS;
    this.#lastTenant = tenant;
    this.#served.add(tenant);
    this.#atWork?.tookTurn(tenant);
  }
}
