/** What each tenant uses of the host, and its limits: active runs, starts per second, open calls and long work. */
import { RetryableError } from '@cairn/protocol';
import { FairTurns } from '../../fair-turns.ts';
import { TokenBuckets } from '../../token-buckets.ts';
import type { EventLoop } from '../ports.ts';
import { LongWork } from './long-work.ts';
import type { SharedCounters } from './shared-counters.ts';
import type { TenantsAtWork } from './turns.ts';

/** Absent limits do not apply. */
export interface TenantLimits {
  /** Runs that all nodes step at the same time. Runs that rest do not count. */
  readonly maxActiveRunsPerTenant?: number | undefined;
  readonly maxStartsPerSecondPerTenant?: number | undefined;
  /** Calls of performers that are in progress. Further ones wait. */
  readonly maxOpenCallsPerTenant?: number | undefined;
}

export interface TenantUsage {
  readonly activeRuns: number;
  /** Starts that the limit per second still remembers. */
  readonly recentStarts: number;
  readonly openCalls: number;
  readonly waitingCalls: number;
}

interface Account {
  activeRuns: number;
  openCalls: number;
  /** Calls beyond the limit. Each returns false if it is no longer wanted. */
  readonly waitingCalls: (() => boolean)[];
}

/** Retry delay for active runs: another one has to end or rest first, at an unknown time. */
const ACTIVE_RETRY_MS = 1_000;

/** Emissions that a call, the calls of a tenant, and all calls may have unrecorded. Each holds up to 64 pieces of text. */
const EMISSIONS_PER_CALL = 128;
const EMISSIONS_PER_TENANT = 1_024;
const EMISSIONS = 4_096;
/** Pieces that all calls emit in one turn of the event loop: a call that fills its window at once would stop it. */
const PIECES_PER_TURN = 256;

export class TenantShares implements SharedCounters, TenantsAtWork {
  #openCalls = 0;
  /** What the tenants use on other nodes. */
  #elsewhere: ReadonlyMap<string, number> = new Map();
  /** Tenants whose runs had turns since the other nodes were told, and those that had turns there. */
  #atWork = new Set<string>();
  #atWorkElsewhere: ReadonlySet<string> = new Set();
  readonly #limits: TenantLimits;
  readonly #starts: TokenBuckets | null;
  readonly #accounts = new Map<string, Account>();

  /** Tenants share the event loop for it. */
  readonly longWork: LongWork;
  readonly #emissionTurns: FairTurns | null;

  constructor(limits: TenantLimits, now: () => number, loop: EventLoop | null = null) {
    this.longWork = new LongWork(loop);
    this.#emissionTurns = loop && new FairTurns({ budget: PIECES_PER_TURN, nextTurn: (begin) => loop.nextTurn(begin) });
    const perSecond = limits.maxStartsPerSecondPerTenant;
    this.#limits = limits;
    this.#starts = perSecond === undefined ? null : new TokenBuckets({ perSecond, burst: perSecond, now });
  }

  /** Counts the start of a run. Throws `rate_limited` if the tenant is at one of its limits. */
  start(tenant: string): void {
    const { maxActiveRunsPerTenant: maxActive, maxStartsPerSecondPerTenant: perSecond } = this.#limits;
    const active = (this.#accounts.get(tenant)?.activeRuns ?? 0) + this.#onOthers('runs', tenant);
    if (maxActive !== undefined && active >= maxActive) {
      throw tooMany(`${maxActive} active runs`, ACTIVE_RETRY_MS);
    }
    const waitMs = this.#starts?.take(tenant) ?? 0;
    if (waitMs > 0) throw tooMany(`${perSecond} starts a second`, waitMs);
  }

  /** Counts a child run. It is never refused, because its parent waits for it; the tree's own limits bound it. */
  startChild(tenant: string): void {
    this.#starts?.take(tenant);
  }

  runOpened(tenant: string): void {
    this.#account(tenant).activeRuns += 1;
  }

  runClosed(tenant: string): void {
    const account = this.#account(tenant);
    account.activeRuns -= 1;
    this.#tidy(tenant, account);
  }

  /** Takes a slot for a call. Returns false if all are taken. */
  takeCall(tenant: string): boolean {
    const account = this.#account(tenant);
    if (!this.#hasRoom(tenant, account)) return false;
    account.openCalls += 1;
    this.#openCalls += 1;
    return true;
  }

  /** How many emissions a call of the tenant may have unrecorded before it has to wait. */
  emissionWindow(tenant: string): number {
    const ofTenant = EMISSIONS_PER_TENANT / (this.#accounts.get(tenant)?.openCalls ?? 1);
    return Math.max(1, Math.floor(Math.min(EMISSIONS_PER_CALL, ofTenant, EMISSIONS / this.#openCalls)));
  }

  /** Counts what a call emits. Returns a promise if the call has to leave this turn of the event loop to others. */
  emitted(tenant: string, pieces: number): Promise<void> | undefined {
    const turns = this.#emissionTurns;
    return turns?.take(tenant, () => turns.charge(pieces)) ?? undefined;
  }

  /** Calls `begin` once a slot is free. It returns false to leave the slot to the next one. */
  waitForCall(tenant: string, begin: () => boolean): void {
    this.#account(tenant).waitingCalls.push(begin);
  }

  /** Ends a call: passes its slot on, or frees it. */
  endCall(tenant: string): void {
    const account = this.#account(tenant);
    for (let begin = account.waitingCalls.shift(); begin !== undefined; begin = account.waitingCalls.shift()) {
      if (begin()) return;
    }
    account.openCalls -= 1;
    this.#openCalls -= 1;
    this.#tidy(tenant, account);
  }

  tookTurn(tenant: string): void {
    this.#atWork.add(tenant);
  }

  isStoreShared(tenant: string): boolean {
    const { size } = this.#atWorkElsewhere;
    return size > 1 || (size === 1 && !this.#atWorkElsewhere.has(tenant));
  }

  /** The other nodes are told, once for each call. */
  *held(): Generator<readonly [string, number]> {
    for (const tenant of this.#atWork) yield [nameOf('turns', tenant), 1];
    this.#atWork = new Set();
    for (const [tenant, { activeRuns, openCalls }] of this.#accounts) {
      if (activeRuns > 0) yield [nameOf('runs', tenant), activeRuns];
      if (openCalls > 0) yield [nameOf('calls', tenant), openCalls];
    }
  }

  spent(): Iterable<readonly [string, number]> {
    return this.#starts?.spent() ?? [];
  }

  charge(tenant: string, starts: number): void {
    this.#starts?.charge(tenant, starts);
  }

  /** Calls that waited for others to end on other nodes go on. */
  elsewhere(held: ReadonlyMap<string, number>): void {
    this.#elsewhere = held;
    const turns = nameOf('turns', '');
    this.#atWorkElsewhere = new Set(
      [...held.keys()].filter((name) => name.startsWith(turns)).map((name) => name.slice(turns.length)),
    );
    for (const [tenant, account] of this.#accounts) {
      while (account.waitingCalls.length > 0 && this.#hasRoom(tenant, account)) {
        account.openCalls += 1;
        this.#openCalls += 1;
        this.endCall(tenant);
      }
    }
  }

  #hasRoom(tenant: string, { openCalls }: Account): boolean {
    const max = this.#limits.maxOpenCallsPerTenant ?? Number.POSITIVE_INFINITY;
    return openCalls + this.#onOthers('calls', tenant) < max;
  }

  #onOthers(what: Resource, tenant: string): number {
    return this.#elsewhere.size === 0 ? 0 : (this.#elsewhere.get(nameOf(what, tenant)) ?? 0);
  }

  /** On all nodes, as far as this one knows. */
  usageOnAllNodes(tenant: string): TenantUsage {
    const here = this.usage(tenant);
    return {
      ...here,
      activeRuns: here.activeRuns + this.#onOthers('runs', tenant),
      openCalls: here.openCalls + this.#onOthers('calls', tenant),
    };
  }

  /** On this node. */
  usage(tenant: string): TenantUsage {
    const { activeRuns = 0, openCalls = 0, waitingCalls = [] } = this.#accounts.get(tenant) ?? {};
    const recentStarts = this.#starts?.used(tenant) ?? 0;
    return { activeRuns, recentStarts, openCalls, waitingCalls: waitingCalls.length };
  }

  /** The tenants that have active runs or open calls. */
  tenants(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  #account(tenant: string): Account {
    const known = this.#accounts.get(tenant);
    if (known !== undefined) return known;
    const account: Account = { activeRuns: 0, openCalls: 0, waitingCalls: [] };
    this.#accounts.set(tenant, account);
    return account;
  }

  #tidy(tenant: string, { activeRuns, openCalls, waitingCalls }: Account): void {
    if (activeRuns === 0 && openCalls === 0 && waitingCalls.length === 0) this.#accounts.delete(tenant);
  }
}

type Resource = 'runs' | 'calls' | 'turns';

const nameOf = (what: Resource, tenant: string): string => `${what} ${tenant}`;

function tooMany(limit: string, retryAfterMs: number): RetryableError {
  return new RetryableError('rate_limited', {
    message: `This tenant has used up its ${limit}.`,
    hint: 'Wait for the time in Retry-After, then send the request again. GET /v1/host/cairn/limits shows the limits.',
    details: { scope: 'tenant', limit, retryAfterMs },
  });
}
