/**
 * The single writer for a run in this process. It folds posted facts, decides what follows, appends both in one commit,
 * and only then performs the effects. It runs one such step at a time.
 */
import { type CairnError, isCairnError, type RunId } from '@cairn/protocol';
import { Backoff } from '../attempts/backoff.ts';
import { awaitsEffects, type Batch } from '../core/compose.ts';
import { type Fact, placeOfCommand } from '../core/facts.ts';
import type { OpenCall, RunState } from '../core/state.ts';
import type { LoadedRun } from '../loading/loaded-run.ts';
import { Readers } from '../loading/readers.ts';
import type { OperatorEvent } from '../operator-events.ts';
import type { Waiter } from '../shares/turn-ring.ts';
import type { Urgency } from '../shares/turns.ts';
import { isMisplaced, refusalOf, retriesAfter, withoutRoom } from './append-batch.ts';
import { HeldRun } from './held-run.ts';
import { foundInLog } from './lost-batch.ts';
import { leaseGone, type MailboxOpening, type MailboxPorts, stopped } from './mailbox-ports.ts';

/** The result of an append: acknowledged by the store, found in the log after a lost response, or not written. */
type Written = 'acknowledged' | 'found' | 'not';

const SET_ASIDE_MS = 60_000;

export class Mailbox {
  readonly runId: RunId;
  readonly #ports: MailboxPorts;
  readonly #held: HeldRun;
  #facts: Fact[] = [];
  /** The most urgent of them. */
  #urgency: Urgency = 'step';
  /** Set while the mailbox waits for its turn. Its state is durable then. */
  #waiter: Waiter | null = null;
  readonly #readers = new Readers();
  readonly #backoff: Backoff;
  #isBusy = false;
  #stepping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(runId: RunId, opening: MailboxOpening, ports: MailboxPorts) {
    this.runId = runId;
    this.#ports = ports;
    this.#backoff = new Backoff(ports.clock);
    this.#held = new HeldRun(runId, opening, ports, {
      post: (fact) => this.post(fact),
      nudge: () => this.nudge(),
      report: (level, event, error) => this.#report(level, event, error),
    });
    if (opening.kind === 'claimed') this.adopt(opening.fence);
  }

  get tenant(): string {
    return this.#held.tenant;
  }

  post(fact: Fact, urgency: Urgency = 'step'): void {
    if (this.#isClosed) {
      fact.refused(stopped(this.runId));
      return;
    }
    if (urgency === 'command') this.#facts.splice(placeOfCommand(this.#facts), 0, fact);
    else this.#facts.push(fact);
    if (urgency !== 'step') {
      this.#urgency = urgency;
      if (this.#waiter !== null) this.#ports.turns.hurry(this.#waiter);
    }
    this.nudge();
  }

  /** Reads the run's durable state; waits for an append in progress. */
  read<T>(look: (state: RunState) => T): Promise<T> {
    const seen = this.#readers.add(look);
    const { loaded, isStale } = this.#held;
    if ((!this.#isBusy || this.#waiter !== null) && loaded !== null && !isStale) this.#readers.serve(loaded.state);
    else this.nudge();
    return seen;
  }

  readonly cancelCall: HeldRun['cancelCall'] = (callId, error) => this.#held.cancelCall(callId, error);

  /** Handles an observed commit of this run. Rows beyond the known ones come from another node. */
  sawCommit(lastSeq: number): void {
    this.#held.sawCommit(lastSeq);
    if (this.#held.isStale) this.nudge();
  }

  /** Takes a lease that the scheduler claimed for this node: for a timer, a wake, or a lost holder. */
  adopt(fence: number): void {
    this.#held.claim(fence);
    this.nudge();
  }

  /** Steps the run unless a step is in progress. */
  nudge(): void {
    if (this.#isBusy || this.#isClosed) return;
    this.#isBusy = true;
    this.#stepping = this.#step();
  }

  /**
   * Stops the mailbox. Aborts attempts in progress, which count as interrupted, and releases the lease for other nodes.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#backoff.cutShort();
    await this.#stepping;
    const { fence } = this.#held;
    this.#drop(stopped(this.runId));
    if (fence !== null) await this.#held.release(fence, this.#ports.clock.now());
  }

  /** A single async function: a second one would cost every step of every run two promises. */
  async #step(): Promise<void> {
    const held = this.#held;
    const { turns } = this.#ports;
    try {
      while (!this.#isClosed) {
        this.#waiter = turns.take(held.tenant, this.#urgency);
        if (this.#waiter !== null) {
          await this.#waiter.turn;
          this.#waiter = null;
          if (this.#isClosed) return;
        }
        const run = held.loaded;
        if (run === null || held.needsRefresh(run)) {
          try {
            this.#facts.push(...(await held.refresh()));
          } catch (error) {
            if (await this.#unreadable(error)) return;
          }
          continue;
        }
        this.#readers.serve(run.state);
        this.#urgency = 'step';
        const batch = held.compose(run, this.#facts.splice(0));
        this.#facts.push(...batch.left);
        if (batch.rows.length === 0) {
          for (const fact of batch.facts) fact.recorded(run.state);
          // A replay has read its part of the record.
          if (held.needsRefresh(run) && run.replay !== null) continue;
          if (await this.#rest(run)) return;
          continue;
        }
        const written = await held.append<Written>(run, batch, (error) => this.#refused(batch, error));
        // If the batch was found in the log, the state has been loaded again.
        const durable = held.loaded;
        if (written === 'not' || durable === null) continue;
        this.#backoff.reset();
        for (const fact of batch.facts) fact.recorded(durable.state);
        held.committed(durable, batch, this.#isClosed);
        if (!held.isStale) this.#readers.serve(durable.state);
        held.saveCheckpoint(durable);
        const isIdle = written === 'acknowledged' && batch.isWhole && this.#facts.length === 0;
        if (isIdle && !held.needsRefresh(durable) && held.isSeenTo(durable)) return;
      }
    } finally {
      this.#isBusy = false;
      if (this.#facts.length > 0 || this.#readers.areWaiting || held.isStale) this.nudge();
      else if (held.fence === null) this.#forget();
    }
  }

  /**
   * Handles an unacknowledged batch. Unless the log holds it, the state is discarded and its facts are requeued or
   * refused.
   */
  async #refused(batch: Batch, error: unknown): Promise<Written> {
    const held = this.#held;
    const refusal = refusalOf(error);
    if (refusal === 'lease-lost' && !held.hasClaim) {
      this.#facts.unshift(...batch.facts);
      this.#drop(error);
      return 'not';
    }
    if (refusal !== 'unknown' && !held.isCreating) {
      held.unload();
      this.#facts.unshift(...batch.facts);
      return 'not';
    }
    if (isCairnError(error, 'quota_exceeded') && !held.isCreating) return this.#overQuota(batch, error);
    if (isMisplaced(error)) return this.#misplaced(batch, error);
    return this.#unknown(batch, error);
  }

  /** A request is refused, and the run stays as it is. A run that goes on by itself fails; its last rows are exempt. */
  #overQuota(batch: Batch, error: CairnError): Written {
    this.#held.unload();
    const { refused, next } = withoutRoom(batch, error);
    for (const fact of refused) fact.refused(error);
    this.#facts.unshift(...next);
    return 'not';
  }

  /** Pieces of an artifact that another one overtook: their calls fail, and everything else is written again. */
  #misplaced(batch: Batch, error: CairnError): Written {
    this.#held.unload();
    for (const fact of batch.facts) if (fact.isEmission === true) fact.refused(error);
    this.#facts.unshift(...batch.facts.filter(({ isEmission }) => isEmission !== true));
    return 'not';
  }

  /** Handles a store failure. Who sent a command is told at once if the log cannot be read either. */
  async #unknown(batch: Batch, error: unknown): Promise<Written> {
    const held = this.#held;
    const { isCreating } = held;
    const isRetried = retriesAfter(error);
    const turnAway = () => {
      for (const fact of batch.facts) if (!isRetried(fact)) fact.refused(error);
    };
    const failed = (cause: unknown): boolean => {
      this.#report('warn', 'store.read_failed', cause);
      turnAway();
      return !isCreating;
    };
    const missed = await foundInLog(batch, held, { backoff: this.#backoff, isClosed: () => this.#isClosed, failed });
    if (missed !== null) {
      this.#facts.push(...missed);
      return 'found';
    }
    turnAway();
    this.#facts.unshift(...batch.facts.filter(isRetried));
    // The caller that starts the run gets the conflict; others get that another node holds the run.
    if (isCreating) this.#drop(isCairnError(error, 'conflict') ? leaseGone(this.runId) : error);
    else {
      this.#report('warn', 'store.append_failed', error);
      if (!this.#isClosed) await this.#backoff.wait();
    }
    return 'not';
  }

  /** Rests with nothing to write. Keeps the lease while attempts are in progress; otherwise releases it. */
  async #rest(run: LoadedRun): Promise<boolean> {
    const held = this.#held;
    if (held.hasClaim) return false;
    if (held.fence === null) return true;
    if (!awaitsEffects(run.state) || run.replay !== null) {
      const released = held.giveBack(run);
      if (released !== null) await released;
      return true;
    }
    const unstarted = run.attempts.unstarted(run.state);
    if (unstarted.length > 0 && !(await this.#start(run, unstarted))) return false;
    held.setAlarm(run);
    return true;
  }

  /**
   * Starts open calls without an attempt. Either the response of the append that requested them was lost, or the lease
   * was lost and a new holder requested them. Only the store can tell. Returns false if the store fails.
   */
  async #start({ state, attempts }: LoadedRun, calls: readonly OpenCall[]): Promise<boolean> {
    try {
      const head = await this.#ports.store.log.head(this.runId);
      if (!this.#held.isHeldBy(head)) this.#drop(leaseGone(this.runId));
      else if (!this.#isClosed) for (const call of calls) attempts.start(state, call);
      return true;
    } catch (error) {
      this.#report('warn', 'store.read_failed', error);
      await this.#backoff.wait();
      return false;
    }
  }

  /** Handles a failed load. Returns true if the mailbox is dropped: the run is unknown, or this host cannot step it. */
  async #unreadable(error: unknown): Promise<boolean> {
    this.#held.unload();
    const { fence } = this.#held;
    if (isCairnError(error) && error.retryable && fence !== null) {
      this.#report('warn', 'run.load_failed', error);
      await this.#backoff.wait();
      return false;
    }
    this.#drop(error);
    if (fence !== null) {
      // Its code is missing or its rows are damaged: it must not block other runs or be retried without a delay.
      this.#report('error', 'run.set_aside', error);
      await this.#held.release(fence, this.#ports.clock.now() + SET_ASIDE_MS);
    }
    return true;
  }

  /** Drops everything. Another holder handles the refused facts, or the caller sends them again. */
  #drop(error: unknown): void {
    this.#isClosed = true;
    this.#held.drop();
    for (const fact of this.#facts.splice(0)) fact.refused(error);
    this.#readers.turnAway(error);
    this.#forget();
  }

  #forget(): void {
    this.#isClosed = true;
    this.#held.leave();
    this.#ports.emptied(this.runId, this);
  }

  #report(level: 'warn' | 'error', event: OperatorEvent, error: unknown): void {
    this.#ports.report({ level, event, facts: { runId: this.runId }, error });
  }
}
