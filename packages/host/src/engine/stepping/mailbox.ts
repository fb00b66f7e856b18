/**
 * The one place of a run in this process through which everything is written. Facts are posted to it; it folds them,
 * decides what follows, appends both in one commit, and only then performs the effects. Never two of these at once.
 */
import { isCairnError, type RunId } from '@cairn/protocol';
import type { NewRun } from '../../log/ports/event-log.ts';
import { awaitsEffects, type Batch, compose, endsRun } from '../core/compose.ts';
import type { Fact } from '../core/facts.ts';
import type { OpenCall, RunState } from '../core/state.ts';
import { nextTimer } from '../core/timers.ts';
import { hasChildren, missedEnds, Relatives } from '../family/child-runs.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { Alarm } from './alarm.ts';
import { Backoff } from './backoff.ts';
import { Calls } from './calls.ts';
import { landedUnder } from './find-append.ts';
import { appendOf, leaseGone, type MailboxWorld, type Opening, stopped } from './mailbox-ports.ts';
import { Readers } from './readers.ts';
import { isCheckpointDue } from './run-loader.ts';

/** What became of an append: its answer came, or the log showed that it took place, or it did not. */
type Written = 'acknowledged' | 'found' | 'not';

const SET_ASIDE_MS = 60_000;
const LINGER_MS = 1_000;

export class Mailbox {
  readonly runId: RunId;
  readonly #world: MailboxWorld;
  /** Set until the run exists in the log. */
  #creating: Extract<Opening, { kind: 'create' }> | null = null;
  #state: RunState | null = null;
  #workflow: Workflow | null = null;
  /** The lease under which this mailbox writes; null while nobody in this process holds it. */
  #fence: number | null = null;
  /** A lease claimed for this node meanwhile, other than the one an append turns out to be under; taken up before the next. */
  #nextFence: number | null = null;
  /** Open calls are a former holder's; stays set until what is done about them is durable. */
  #takenOver = false;
  #tailStale = false;
  #facts: Fact[] = [];
  readonly #readers = new Readers();
  #calls: Calls | null = null;
  #isBusy = false;
  #running: Promise<void> = Promise.resolve();
  #closed = false;
  #checkpointSeq = -1;
  #landedAt = 0;
  /** Nothing that relatives of the run did can have been missed. */
  #hasLooked = false;
  readonly #relatives = new Relatives();
  readonly #backoff: Backoff;
  readonly #alarm: Alarm;

  constructor(runId: RunId, opening: Opening, world: MailboxWorld) {
    this.runId = runId;
    this.#world = world;
    this.#backoff = new Backoff(world.clock);
    this.#alarm = new Alarm(world.clock, () => this.nudge());
    if (opening.kind === 'create') {
      this.#creating = opening;
      this.#state = opening.state;
      this.#workflow = opening.workflow;
      this.#calls = this.#callsOf(opening.run, opening.workflow);
    } else if (opening.kind === 'claimed') {
      this.adopt(opening.fence);
    }
  }

  post(fact: Fact): void {
    if (this.#closed) {
      fact.refused(stopped(this.runId));
      return;
    }
    this.#facts.push(fact);
    this.nudge();
  }

  /** A look at the run's state as the log has it; waits for an append that is under way. */
  read<T>(look: (state: RunState) => T): Promise<T> {
    const seen = this.#readers.add(look);
    if (!this.#isBusy && this.#state !== null && !this.#tailStale) this.#readers.serve(this.#state);
    else this.nudge();
    return seen;
  }

  /** A commit of this run was seen; beyond what is known here it is another node's. */
  sawCommit(lastSeq: number): void {
    if (this.#state !== null && lastSeq < this.#state.nextSeq) return;
    this.#tailStale = true;
    this.nudge();
  }

  /** The run was claimed for this node: by its end, its timer, or because its former holder is gone. */
  adopt(fence: number): void {
    this.#nextFence = fence;
    this.#tailStale = true;
    this.nudge();
  }

  /** Look whether there is something to do. */
  nudge(): void {
    if (this.#isBusy || this.#closed) return;
    this.#isBusy = true;
    this.#running = this.#run();
  }

  /** Stops: effects under way are aborted and count as interrupted; the lease goes back so that others may go on. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#backoff.cutShort();
    await this.#running;
    const fence = this.#fence;
    this.#drop(stopped(this.runId));
    if (fence !== null) await this.#release(fence, this.#world.clock.now());
  }

  /** One async function for all of it: another would cost every step of every run two promises. */
  async #run(): Promise<void> {
    try {
      while (!this.#closed) {
        if (this.#state === null || this.#tailStale || this.#mayHaveMissed(this.#state)) {
          try {
            await this.#refresh();
          } catch (error) {
            if (await this.#unreadable(error)) return;
          }
          continue;
        }
        this.#readers.serve(this.#state);
        const batch = this.#compose();
        if (batch.rows.length === 0) {
          this.#takenOver = false;
          for (const fact of batch.facts) fact.recorded(this.#state as RunState);
          if (await this.#settleDown()) return;
          continue;
        }
        const written = await this.#commit(batch);
        if (written === 'not') continue;
        this.#backoff.reset();
        this.#land(batch);
        if (!this.#tailStale) this.#readers.serve(this.#state as RunState);
        this.#checkpoint();
        if (written === 'acknowledged' && batch.isWhole && this.#isSeenTo()) return;
      }
    } finally {
      this.#isBusy = false;
      if (this.#facts.length > 0 || this.#readers.areWaiting || this.#tailStale) this.nudge();
      else if (this.#fence === null) this.#forget();
    }
  }

  /** Decided to the end, and every open call is under way here: there is nothing to look at until something happens. */
  #isSeenTo(): boolean {
    const state = this.#state as RunState;
    const isStale = this.#tailStale || this.#mayHaveMissed(state);
    if (this.#facts.length > 0 || isStale || this.#calls?.forgotten(state).length !== 0) return false;
    if (this.#fence !== null && !this.#lingers(state)) this.#alarm.set(nextTimer(state));
    return true;
  }

  /** State in memory and level with the log. */
  async #refresh(): Promise<void> {
    const stale = this.#tailStale;
    this.#tailStale = false;
    if (this.#nextFence !== null) {
      this.#fence = this.#nextFence;
      this.#nextFence = null;
      this.#takenOver = true;
      this.#hasLooked = false;
    }
    if (this.#state === null) {
      const loaded = await this.#world.loader.load(this.runId);
      this.#state = loaded.state;
      this.#workflow = loaded.workflow;
      this.#calls ??= this.#callsOf(loaded.record, loaded.workflow);
      this.#checkpointSeq = loaded.checkpointSeq;
    } else if (stale && this.#creating === null) {
      await this.#world.loader.catchUp(this.#state, this.#workflow as Workflow);
    }
    if (!this.#mayHaveMissed(this.#state)) return;
    this.#facts.push(...(await missedEnds(this.#state, this.#world)));
    this.#hasLooked = true;
  }

  /**
   * Taking a lease answers the wake that was due, so whoever has taken it looks what there was to be woken for. Of a new
   * run the one above may have let go while it was made.
   */
  #mayHaveMissed({ keeper, children, ended }: RunState): boolean {
    if (this.#hasLooked || this.#fence === null || ended) return false;
    return keeper !== null || hasChildren({ children });
  }

  #compose(): Batch {
    const state = this.#state as RunState;
    this.#calls?.keepOnly(state.calls);
    // Calls that are open while nobody here holds the lease are a dead holder's; the append that takes it looks at them.
    this.#takenOver = (this.#takenOver || this.#fence === null) && awaitsEffects(state);
    return compose({
      state,
      workflow: this.#workflow as Workflow,
      facts: this.#facts.splice(0),
      now: this.#world.clock.now(),
      takenOver: this.#takenOver,
      hasLooked: this.#hasLooked && this.#fence !== null,
      underWay: (callId) => this.#calls?.isUnderWay(callId) === true,
      broken: (error) => this.#report('error', 'run.stopped', error),
    });
  }

  /** Whether the batch is durable. When not, the state is gone and the facts are back, or refused. */
  #commit(batch: Batch): Promise<Written> {
    const state = this.#state as RunState;
    const held = { creating: this.#creating, fence: this.#fence, relatives: this.#relatives.toTell(state) };
    return this.#world.store.log.append(appendOf(this.#world, state, { batch, ...held })).then(
      ({ fence }) => {
        this.#written(batch, fence);
        return 'acknowledged';
      },
      (error: unknown) => this.#notAcknowledged(batch, error),
    );
  }

  async #notAcknowledged(batch: Batch, error: unknown): Promise<Written> {
    const lost = isCairnError(error, 'lease_lost') || isCairnError(error, 'lease_held');
    if (lost && this.#nextFence === null) {
      this.#facts.unshift(...batch.facts);
      this.#drop(error);
      return 'not';
    }
    const overtaken = lost || isCairnError(error, 'conflict') || isCairnError(error, 'run_terminal');
    if (overtaken && this.#creating === null) {
      this.#state = null;
      this.#facts.unshift(...batch.facts);
      return 'not';
    }
    return this.#unsure(batch, error);
  }

  #written(batch: Batch, fence: number): void {
    this.#creating = null;
    this.#takenOver = batch.takeOverLater;
    this.#fence = batch.rest !== undefined || endsRun(batch) ? null : fence;
    if (this.#nextFence !== null && this.#nextFence <= fence) this.#nextFence = null;
    if (this.#fence === null || this.#tailStale) this.#hasLooked = false;
    if (typeof batch.rest?.wakeAt === 'number') this.#world.wakeBy(batch.rest.wakeAt);
  }

  /** The store failed: the rows may or may not be there. Only the log can tell. */
  async #unsure(batch: Batch, error: unknown): Promise<Written> {
    const creating = this.#creating !== null;
    this.#state = null;
    try {
      const { owner, store } = this.#world;
      const fence = await landedUnder(store.log, this.runId, batch, { owner, fence: this.#fence });
      if (fence !== null) {
        this.#written(batch, fence);
        await this.#refresh();
        return 'found';
      }
    } catch (cause) {
      this.#report('warn', 'store.read_failed', cause);
    }
    this.#state = null;
    const isTaken = isCairnError(error, 'idempotency_in_flight');
    const mayStay = (fact: Fact) => fact.internal || (isTaken && fact.outcome === undefined);
    for (const fact of batch.facts) if (!mayStay(fact)) fact.refused(error);
    this.#facts.unshift(...batch.facts.filter(mayStay));
    if (creating) {
      // That it exists is an answer to its starter; to others it says who to turn to.
      this.#drop(isCairnError(error, 'conflict') ? leaseGone(this.runId) : error);
      return 'not';
    }
    this.#report('warn', 'store.append_failed', error);
    await this.#backoff.wait();
    return 'not';
  }

  /** The rows are durable: tell those who wait, stop what is no longer wanted, start what was asked for. */
  #land(batch: Batch): void {
    const state = this.#state as RunState;
    for (const fact of batch.facts) fact.recorded(state);
    this.#calls?.keepOnly(state.calls);
    this.#landedAt = this.#world.clock.now();
    this.#relatives.tell(state, this.#world.ended);
    // With another lease taken meanwhile, what was asked for under the old one is for `recover` to look at.
    if (this.#closed || this.#nextFence !== null) return;
    this.#calls?.startOf(batch, state);
  }

  #callsOf({ tenant, contextId }: Pick<NewRun, 'tenant' | 'contextId'>, workflow: Workflow): Calls {
    return new Calls(this.#world, { runId: this.runId, tenant, contextId, workflow }, (fact) => this.post(fact));
  }

  /** Nothing to write. The lease stays while effects are under way, and goes back when the run waits for others. */
  async #settleDown(): Promise<boolean> {
    const state = this.#state as RunState;
    const fence = this.#fence;
    if (this.#nextFence !== null) return false;
    if (fence === null) return true;
    if (awaitsEffects(state)) {
      const forgotten = this.#calls?.forgotten(state) ?? [];
      if (forgotten.length > 0 && !(await this.#startForgotten(state, forgotten, fence))) return false;
      this.#alarm.set(nextTimer(state));
      return true;
    }
    if (this.#lingers(state)) return true;
    this.#fence = null;
    this.#hasLooked = false;
    await this.#release(fence, state.ended ? null : nextTimer(state));
    return true;
  }

  /** A run whose children are at work is held for a moment: they may soon have ended. */
  #lingers(state: RunState): boolean {
    const until = this.#landedAt + LINGER_MS;
    if (state.ended || awaitsEffects(state) || !hasChildren(state) || this.#world.clock.now() >= until) return false;
    this.#alarm.set(Math.min(until, nextTimer(state) ?? until));
    return true;
  }

  /**
   * A call that is open and not under way here was asked for by an append whose answer was lost; or the lease was lost,
   * and a new holder asked for it. Only the store can tell. False when it could not be asked.
   */
  async #startForgotten(state: RunState, forgotten: readonly OpenCall[], fence: number): Promise<boolean> {
    try {
      const head = await this.#world.store.log.head(this.runId);
      if (head?.fence !== fence || head.owner !== this.#world.owner) this.#drop(leaseGone(this.runId));
      else if (!this.#closed) for (const call of forgotten) this.#calls?.start(state, call);
      return true;
    } catch (error) {
      this.#report('warn', 'store.read_failed', error);
      await this.#backoff.wait();
      return false;
    }
  }

  async #release(fence: number, wakeAt: number | null): Promise<void> {
    try {
      await this.#world.store.queue.release({ runId: this.runId, fence, wakeAt });
      if (wakeAt !== null) this.#world.wakeBy(wakeAt);
    } catch (error) {
      // The lease then ends with this node's session; only time is lost.
      this.#report('warn', 'lease.release_failed', error);
    }
  }

  /** The state is taken as text at once; nothing waits until that is stored. */
  #checkpoint(): void {
    const state = this.#state;
    if (state === null || !isCheckpointDue(state, this.#checkpointSeq, this.#fence === null)) return;
    this.#checkpointSeq = state.nextSeq - 1;
    this.#world.loader
      .saveCheckpoint(state)
      .catch((error: unknown) => this.#report('warn', 'checkpoint.save_failed', error));
  }

  /** True when this mailbox is done for: the run is unknown, or this host cannot step it. */
  async #unreadable(error: unknown): Promise<boolean> {
    this.#state = null;
    const fence = this.#fence;
    if (isCairnError(error) && error.retryable && fence !== null) {
      this.#report('warn', 'run.load_failed', error);
      await this.#backoff.wait();
      return false;
    }
    this.#drop(error);
    if (fence !== null) {
      // Its code is gone or its rows are damaged: it must not stop the others, nor be tried without a pause.
      this.#report('error', 'run.quarantined', error);
      await this.#release(fence, this.#world.clock.now() + SET_ASIDE_MS);
    }
    return true;
  }

  /** Lets go of everything. What is refused here is for another holder, or for the caller to send again. */
  #drop(error: unknown): void {
    this.#closed = true;
    if (this.#nextFence !== null) void this.#release(this.#nextFence, this.#world.clock.now());
    this.#nextFence = null;
    this.#fence = null;
    this.#state = null;
    this.#calls?.keepOnly({});
    for (const fact of this.#facts.splice(0)) fact.refused(error);
    this.#readers.turnAway(error);
    this.#forget();
  }

  #forget(): void {
    this.#closed = true;
    this.#alarm.set(null);
    this.#world.emptied(this.runId, this);
  }

  #report(level: 'warn' | 'error', event: Parameters<MailboxWorld['report']>[0]['event'], error: unknown): void {
    this.#world.report({ level, event, facts: { runId: this.runId }, error });
  }
}
