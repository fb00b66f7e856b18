/** The shared store as each node sees it: over a connection on which writes wait, fail, and lose their replies. */
import { isCairnError, RetryableError } from '@cairn/protocol';
import type { Append, Appended, Commit, EventLog } from '../../packages/host/src/log/ports/event-log.ts';
import type { Queue } from '../../packages/host/src/log/ports/queue.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';
import type { ForkWatch } from './fork-watch.ts';
import type { LeaseWatch } from './lease-watch.ts';
import type { Profile } from './profile.ts';
import type { Schedule } from './schedule.ts';

/** State shared by all connections. */
export interface StoreWorld {
  readonly base: Store;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly leases: LeaseWatch;
  readonly forks: Pick<ForkWatch, 'asked'>;
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
  readonly note: (text: string) => void;
  /** Serializes writes, so that `leases` sees them in commit order. */
  readonly inOrder: <Value>(write: () => Promise<Value>) => Promise<Value>;
  profile: Profile;
  diskFull: boolean;
}

/** Runs the given functions one after the other, even if an earlier one failed. */
export function oneAtATime(): StoreWorld['inOrder'] {
  let last: Promise<unknown> = Promise.resolve();
  return (write) => {
    const next = last.then(write, write);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Never settles: a dead process gets no result for its requests. */
const silence = <Value>(): Promise<Value> => new Promise<Value>(() => undefined);

const failed = (what: string): RetryableError =>
  new RetryableError('store_failed', { message: `The store failed: ${what}.`, hint: 'Try again.' });

const full = (): RetryableError =>
  new RetryableError('store_full', { message: 'The disk is full.', hint: 'Make room.' });

/** The store connection of one life of a node. */
export class StoreLine implements Store {
  readonly life: string;
  readonly log: EventLog;
  readonly changes: Store['changes'];
  readonly contexts: Store['contexts'];
  readonly queue: Queue;
  readonly runIndex: Store['runIndex'];
  readonly definitions: Store['definitions'];
  readonly checkpoints: Store['checkpoints'];
  readonly idempotency: Store['idempotency'];
  readonly memories: Store['memories'];
  readonly packs: Store['packs'];
  readonly subscriptions: Store['subscriptions'];
  /** No run of the simulation signs in. */
  readonly credentials: Store['credentials'];
  readonly blobs: Store['blobs'];
  readonly artifacts: Store['artifacts'];
  /** No engine purges runs. */
  readonly retention: Store['retention'];
  readonly purges: Store['purges'];
  /** Engines use neither. */
  readonly expiring: Store['expiring'];
  readonly cluster: Store['cluster'];
  /** The node is alive but temporarily cannot reach the store. */
  cutOff = false;
  /** Number of session renewals by the node. */
  renewals = 0;
  #dead = false;
  #retired = false;
  readonly #world: StoreWorld;
  readonly #listeners = new Set<(commit: Commit) => void>();
  readonly #stopListening: () => void;
  readonly #doubt = new Map<() => void, () => void>();

  constructor(life: string, world: StoreWorld) {
    this.life = life;
    this.#world = world;
    this.#stopListening = world.base.log.follow((commit) => this.#hear(commit));
    this.log = this.#makeLog();
    this.changes = this.#makeChanges();
    this.contexts = this.#makeContexts();
    this.queue = this.#makeQueue();
    this.runIndex = this.#makeRunIndex();
    this.definitions = this.#makeDefinitions();
    this.checkpoints = this.#makeCheckpoints();
    this.idempotency = this.#makeIdempotency();
    this.memories = this.#makeMemories();
    this.packs = this.#makePacks();
    this.subscriptions = this.#makeSubscriptions();
    this.credentials = world.base.credentials;
    this.retention = world.base.retention;
    this.purges = world.base.purges;
    this.blobs = this.#makeBlobs();
    this.artifacts = world.base.artifacts;
    this.expiring = world.base.expiring;
    this.cluster = world.base.cluster;
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.#listeners.clear();
  }

  /** The node stopped cleanly and must not touch the store any more. */
  retire(): void {
    void this.close();
    this.#retired = true;
  }

  /** The node is gone. A write in flight may still arrive, but nobody receives its result. */
  kill(): void {
    const { schedule, random, count } = this.#world;
    this.#dead = true;
    this.#stopListening();
    this.#listeners.clear();
    const underWay = schedule.takeAll('write', this.life);
    if (underWay.length > 0) count('crash while writes were under way');
    for (const write of underWay) if (random.chance(0.5)) write.happen();
    for (const kind of ['reply', 'notice', 'step'] as const) schedule.takeAll(kind, this.life);
  }

  /** The transaction with all held appends of this connection fails half-written. */
  tear(): void {
    const torn = this.#world.schedule.takeAll('write', this.life);
    for (const write of torn) {
      const reject = this.#doubt.get(write.happen);
      if (reject === undefined) this.#world.schedule.add(write);
      else {
        this.#doubt.delete(write.happen);
        this.#world.count('write torn');
        reject();
      }
    }
  }

  #makeLog(): EventLog {
    const { base } = this.#world;
    return {
      append: (append) => this.#write(`append ${append.runId} ${append.rows[0]?.type}`, () => this.#append(append)),
      read: (range) => this.#read(() => base.log.read(range)),
      rowsUntil: (runId, cursor) => this.#read(() => base.log.rowsUntil(runId, cursor)),
      head: (runId) => this.#read(() => base.log.head(runId)),
      purged: (runId) => this.#read(() => base.log.purged(runId)),
      importRun: (run, rows) => this.#write(`import ${run.runId}`, () => base.log.importRun(run, rows)),
      fork: (run) =>
        this.#write(`fork ${run.runId}`, () => {
          this.#world.forks.asked(run);
          return base.log.fork(run);
        }),
      follow: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }

  #makeChanges(): Store['changes'] {
    const { changes } = this.#world.base;
    return {
      read: (range) => this.#read(() => changes.read(range)),
      end: () => this.#read(() => changes.end()),
      lastCursor: () => this.#read(() => changes.lastCursor()),
    };
  }

  #makeContexts(): Store['contexts'] {
    const { contexts } = this.#world.base;
    return {
      tenant: (contextId) => this.#read(() => contexts.tenant(contextId)),
      head: (contextId) => this.#read(() => contexts.head(contextId)),
      runs: (query) => this.#read(() => contexts.runs(query)),
      oldestOpen: (contextId) => this.#read(() => contexts.oldestOpen(contextId)),
      interrupts: (contextId, interruptId) => this.#read(() => contexts.interrupts(contextId, interruptId)),
    };
  }

  #makeQueue(): Queue {
    const { base, leases } = this.#world;
    return {
      claim: (request) =>
        this.#write(`claim ${request.owner}`, async () => {
          const claims = await base.queue.claim(request);
          leases.claimed(request, claims);
          return claims;
        }),
      renew: (request) =>
        this.#write(`renew ${request.owner}`, async () => {
          this.renewals += 1;
          await base.queue.renew(request);
          leases.renewed(request.owner, request.until);
        }),
      release: (request) =>
        this.#write(`release ${request.runId}`, async () => {
          await base.queue.release(request);
          leases.released(request.runId, request.fence);
        }),
      due: () => this.#read(() => base.queue.due()),
      depth: (now) => this.#read(() => base.queue.depth(now)),
    };
  }

  #makeRunIndex(): Store['runIndex'] {
    const { runIndex } = this.#world.base;
    return {
      list: (query) => this.#read(() => runIndex.list(query)),
      shown: (runIds) => this.#read(() => runIndex.shown(runIds)),
      childCounts: (runIds) => this.#read(() => runIndex.childCounts(runIds)),
      interrupts: (runId) => this.#read(() => runIndex.interrupts(runId)),
      pending: (query) => this.#read(() => runIndex.pending(query)),
      tenantLogBytes: (tenant) => this.#read(() => runIndex.tenantLogBytes(tenant)),
      rebuild: () => this.#read(() => runIndex.rebuild()),
    };
  }

  #makeDefinitions(): Store['definitions'] {
    const { definitions } = this.#world.base;
    return {
      put: (hash, body, payer) => this.#write('definition', () => definitions.put(hash, body, payer)),
      get: (hash) => this.#read(() => definitions.get(hash)),
      putWorkflow: (record, options) => this.#write('workflow', () => definitions.putWorkflow(record, options)),
      workflow: (tenant, id, version) => this.#read(() => definitions.workflow(tenant, id, version)),
      workflows: (tenant) => this.#read(() => definitions.workflows(tenant)),
      count: (tenant) => this.#read(() => definitions.count(tenant)),
    };
  }

  #makeCheckpoints(): Store['checkpoints'] {
    const { checkpoints } = this.#world.base;
    return {
      put: (checkpoint) => this.#write('checkpoint', () => checkpoints.put(checkpoint)),
      get: (runId, atMost) => this.#read(() => checkpoints.get(runId, atMost)),
      position: (reader) => this.#read(() => checkpoints.position(reader)),
      putPosition: (reader, position) => this.#write('mark', () => checkpoints.putPosition(reader, position)),
    };
  }

  #makeIdempotency(): Store['idempotency'] {
    const { idempotency } = this.#world.base;
    return {
      get: (key) => this.#read(() => idempotency.get(key)),
      claim: (claim) => this.#write('claim of a key', () => idempotency.claim(claim)),
      save: (write) => this.#write('outcome', () => idempotency.save(write)),
      drop: (claim) => this.#write('key dropped', () => idempotency.drop(claim)),
      expireSome: (before) => this.#write('expiry', () => idempotency.expireSome(before)),
    };
  }

  #makeMemories(): Store['memories'] {
    const { memories } = this.#world.base;
    return {
      list: (query) => this.#read(() => memories.list(query)),
      get: (query, id) => this.#read(() => memories.get(query, id)),
      search: (query, text) => this.#read(() => memories.search(query, text)),
    };
  }

  #makePacks(): Store['packs'] {
    const { packs } = this.#world.base;
    return {
      put: (record) => this.#write('pack', () => packs.put(record)),
      list: (tenant) => this.#read(() => packs.list(tenant)),
      drop: (tenant, name) => this.#write('pack', () => packs.drop(tenant, name)),
    };
  }

  #makeBlobs(): Store['blobs'] {
    const { blobs } = this.#world.base;
    return {
      put: (blob) => this.#write('blob', () => blobs.put(blob)),
      get: (tenant, sha256) => this.#read(() => blobs.get(tenant, sha256)),
      tenantBytes: (tenant) => this.#read(() => blobs.tenantBytes(tenant)),
      sweepSome: (before) => this.#write('sweep', () => blobs.sweepSome(before)),
    };
  }

  #makeSubscriptions(): Store['subscriptions'] {
    const { subscriptions } = this.#world.base;
    return {
      put: (record) => this.#write('subscription', () => subscriptions.put(record)),
      list: (kind, tenant) => this.#read(() => subscriptions.list(kind, tenant)),
      saveState: (id, state, fence) =>
        this.#write('subscription state', () => subscriptions.saveState(id, state, fence)),
      drop: (tenant, id) => this.#write('subscription dropped', () => subscriptions.drop(tenant, id)),
    };
  }

  async #append(append: Append): Promise<Appended> {
    const { base, leases, count } = this.#world;
    try {
      const appended = await base.log.append(append);
      leases.appended(append, appended);
      return appended;
    } catch (error) {
      if (isCairnError(error, 'conflict')) count('decision lost a conflict');
      if (isCairnError(error, 'lease_lost')) count('write refused for its lease');
      throw error;
    }
  }

  #write<Value>(label: string, perform: () => Promise<Value>): Promise<Value> {
    const { profile, random, schedule, count } = this.#world;
    if (this.#retired) this.#world.complain('a closed engine writes no more', { life: this.life, label });
    if (this.#dead) return silence();
    const lost = random.chance(profile.lostReply);
    const late = random.chance(profile.lateReply);
    const fails = random.chance(profile.failedWrite);
    const held = random.chance(profile.heldWrite);
    const givenUp = random.chance(profile.lateLanding);
    const act = async (): Promise<Value> => {
      if (!this.#dead && this.cutOff) throw failed('no connection');
      if (this.#world.diskFull) throw full();
      if (fails) {
        count('write failed');
        throw failed('commit refused');
      }
      const value = await this.#world.inOrder(perform);
      if (this.#dead) count('write landed after the crash of its node');
      if (lost) {
        count('reply lost');
        this.#world.note(`lost reply: ${label}`);
        throw failed('connection reset after the request was sent');
      }
      return value;
    };
    if (givenUp) {
      // A slow network, not a broken one: the caller has stopped waiting, but the write is still in flight.
      const happen = (): void => void act().catch(() => undefined);
      schedule.add({ kind: 'write', life: this.life, label: `${label} (given up)`, happen });
      count('write arrived after its caller was told that it failed');
      return Promise.reject(failed('no answer in time'));
    }
    if (!held) return this.#deliver(act(), late);
    count('write held');
    return new Promise<Value>((resolve, reject) => {
      const happen = (): void => {
        this.#doubt.delete(happen);
        this.#deliver(act(), late).then(resolve, reject);
      };
      if (label.startsWith('append')) this.#doubt.set(happen, () => reject(failed('the batch was torn')));
      schedule.add({ kind: 'write', life: this.life, label, happen });
    });
  }

  async #read<Value>(perform: () => Promise<Value>): Promise<Value> {
    const { profile, random, count } = this.#world;
    if (this.#dead) return silence();
    if (this.cutOff) throw failed('no connection');
    if (random.chance(profile.failedRead)) {
      count('read failed');
      throw failed('read refused');
    }
    return this.#deliver(perform(), random.chance(profile.heldRead));
  }

  /** Delivers the outcome to the caller: immediately, when the scheduler decides, or never if the caller has died. */
  #deliver<Value>(outcome: Promise<Value>, late: boolean): Promise<Value> {
    const { schedule, count } = this.#world;
    return new Promise<Value>((resolve, reject) => {
      const settle = (give: () => void): void => {
        if (this.#dead) return;
        if (!late) {
          give();
          return;
        }
        count('reply late');
        schedule.add({ kind: 'reply', life: this.life, label: 'reply', happen: give });
      };
      outcome.then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error)),
      );
    });
  }

  #hear(commit: Commit): void {
    const { profile, random, schedule, count } = this.#world;
    const tell = (): void => {
      for (const listener of this.#listeners) listener(commit);
    };
    const behind = schedule.has('notice', this.life);
    if (!behind && !random.chance(profile.lateNotice)) {
      tell();
      return;
    }
    count('notice late');
    schedule.add({ kind: 'notice', life: this.life, label: `notice ${commit.runId}`, happen: tell });
  }
}
