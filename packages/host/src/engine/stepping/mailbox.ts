/**
 * The single writer for a run in this process. Facts are posted to it; it folds them, decides what follows, appends both
 * in one commit, and only then performs the effects. It never does two of these at once.
 */
import { isCairnError, type RunId } from '@cairn/protocol';
import { awaitsEffects, type Batch } from '../core/compose.ts';
import type { Fact } from '../core/facts.ts';
import type { OpenCall, RunState } from '../core/state.ts';
import type { OperatorEvent } from '../operator-events.ts';
import { refusalOf, retriesAfter } from './append-batch.ts';
import { Backoff } from './backoff.ts';
import { HeldRun, type LoadedRun } from './held-run.ts';
import { leaseGone, type MailboxPorts, type Opening, stopped } from './mailbox-ports.ts';
import { Readers } from './readers.ts';

/** What became of an append: the store acknowledged it, or the log showed that it took place, or it did not. */
type Written = 'acknowledged' | 'found' | 'not';

const SET_ASIDE_MS = 60_000;

export class Mailbox {
  readonly runId: RunId;
  readonly #ports: MailboxPorts;
  readonly #held: HeldRun;
  #facts: Fact[] = [];
  readonly #readers = new Readers();
  readonly #backoff: Backoff;
  #isBusy = false;
  #stepping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(runId: RunId, opening: Opening, ports: MailboxPorts) {
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

  post(fact: Fact): void {
    if (this.#isClosed) {
      fact.refused(stopped(this.runId));
      return;
    }
    this.#facts.push(fact);
    this.nudge();
  }

  /** A look at the run's state as the log has it; waits for an append that is under way. */
  read<T>(look: (state: RunState) => T): Promise<T> {
    const seen = this.#readers.add(look);
    const { loaded, isStale } = this.#held;
    if (!this.#isBusy && loaded !== null && !isStale) this.#readers.serve(loaded.state);
    else this.nudge();
    return seen;
  }

  /** A commit of this run was seen; rows beyond the known ones are another node's. */
  sawCommit(lastSeq: number): void {
    this.#held.sawCommit(lastSeq);
    if (this.#held.isStale) this.nudge();
  }

  /** The scheduler claimed the run for this node: for its timer, a wake, or because its former holder is gone. */
  adopt(fence: number): void {
    this.#held.claim(fence);
    this.nudge();
  }

  /** Steps the run, if it is not being stepped. */
  nudge(): void {
    if (this.#isBusy || this.#isClosed) return;
    this.#isBusy = true;
    this.#stepping = this.#step();
  }

  /** Stops: attempts under way are aborted and count as interrupted; the lease goes back so that others may go on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#backoff.cutShort();
    await this.#stepping;
    const { fence } = this.#held;
    this.#drop(stopped(this.runId));
    if (fence !== null) await this.#held.release(fence, this.#ports.clock.now());
  }

  /** One async function for all of it: another would cost every step of every run two promises. */
  async #step(): Promise<void> {
    const held = this.#held;
    try {
      while (!this.#isClosed) {
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
        const batch = held.compose(run, this.#facts.splice(0));
        if (batch.rows.length === 0) {
          for (const fact of batch.facts) fact.recorded(run.state);
          if (await this.#rest(run)) return;
          continue;
        }
        const written = await held.append<Written>(run, batch, (error) => this.#refused(batch, error));
        // A batch that was found in the log is in a state loaded anew.
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

  /** The batch was not acknowledged. Unless it is found in the log, the state is gone and the facts are back, or refused. */
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
    return this.#unknown(batch, error);
  }

  /** The store failed: the rows may or may not be there. Only the log can tell. */
  async #unknown(batch: Batch, error: unknown): Promise<Written> {
    const held = this.#held;
    const { isCreating } = held;
    held.unload();
    try {
      const fence = await held.find(batch);
      if (fence !== null) {
        held.appended(batch, fence);
        this.#facts.push(...(await held.refresh()));
        return 'found';
      }
    } catch (cause) {
      this.#report('warn', 'store.read_failed', cause);
    }
    held.unload();
    const isRetried = retriesAfter(error);
    for (const fact of batch.facts) if (!isRetried(fact)) fact.refused(error);
    this.#facts.unshift(...batch.facts.filter(isRetried));
    if (isCreating) {
      // Its starter learns that the run exists; others learn that another node steps it.
      this.#drop(isCairnError(error, 'conflict') ? leaseGone(this.runId) : error);
      return 'not';
    }
    this.#report('warn', 'store.append_failed', error);
    await this.#backoff.wait();
    return 'not';
  }

  /** Nothing to write. The lease stays while attempts are under way, and goes back when the run waits for others. */
  async #rest(run: LoadedRun): Promise<boolean> {
    const held = this.#held;
    if (held.hasClaim) return false;
    if (held.fence === null) return true;
    if (!awaitsEffects(run.state)) {
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
   * An open call without an attempt was asked for by an append whose answer was lost; or the lease was lost, and a new
   * holder asked for it. Only the store can tell. False when it could not be asked.
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

  /** True when this mailbox is done for: the run is unknown, or this host cannot step it. */
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
      // Its code is gone or its rows are damaged: it must neither stop the others nor be tried without a pause.
      this.#report('error', 'run.quarantined', error);
      await this.#held.release(fence, this.#ports.clock.now() + SET_ASIDE_MS);
    }
    return true;
  }

  /** Lets go of everything. What is refused here is for another holder, or for the caller to send again. */
  #drop(error: unknown): void {
    this.#isClosed = true;
    this.#held.drop();
    for (const fact of this.#facts.splice(0)) fact.refused(error);
    this.#readers.turnAway(error);
    this.#forget();
  }

  #forget(): void {
    this.#isClosed = true;
    this.#held.silence();
    this.#ports.emptied(this.runId, this);
  }

  #report(level: 'warn' | 'error', event: OperatorEvent, error: unknown): void {
    this.#ports.report({ level, event, facts: { runId: this.runId }, error });
  }
}
