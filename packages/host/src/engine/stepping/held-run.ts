/** A run held by this process: its state in memory, its lease, and the attempts of its calls. */
import type { RunId } from '@cairn/protocol';
import type { RunHead } from '../../log/ports/event-log.ts';
import { Attempts } from '../attempts/attempts.ts';
import { awaitsEffects, type Batch, compose, endsRun, type Moment } from '../core/compose.ts';
import type { Fact } from '../core/facts.ts';
import type { RunError, RunState } from '../core/state.ts';
import { nextTimer } from '../core/timers.ts';
import { missedEnds } from '../family/missed-ends.ts';
import { hasKeptRelatives, Relatives } from '../family/relatives.ts';
import { CheckpointSaver, payloadBytes } from '../loading/checkpoints.ts';
import type { Holder, LoadedRun } from '../loading/loaded-run.ts';
import { RECENT_MS, type RestingRun } from '../loading/recent-states.ts';
import { replayOf } from '../replay/replay-fork.ts';
import { portsOfReplay } from '../replay/replay-ports.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { appendOf, sizeOf } from './append-batch.ts';
import { DecisionMark } from './decision-mark.ts';
import { findAppend } from './find-append.ts';
import {
  adoptClaim,
  appended,
  checkedRelatives,
  claimed,
  composing,
  dropped,
  givenBack,
  type LeaseState,
  needsRelativesCheck,
  newLease,
  nothingToWrite,
} from './lease-state.ts';
import { type MailboxOpening, type MailboxPorts, type RunCreation, tenantOf } from './mailbox-ports.ts';
import { releaseLease } from './release-lease.ts';
import { Waiting } from './waiting.ts';

export class HeldRun {
  readonly tenant: string;
  readonly #runId: RunId;
  /** A replay is denied those that reach the outside, once its record says what it is. */
  #ports: MailboxPorts;
  readonly #holder: Holder;
  readonly #lease: LeaseState = newLease();
  /** Set until the run exists in the log. */
  #creating: RunCreation | null = null;
  /** Null before loading and after a failed append, because the state may then be ahead of the log. */
  #loaded: LoadedRun | null = null;
  /** Attempts outlive the state that started them. */
  #attempts: Attempts | null = null;
  /** The log may hold rows that the state does not include. */
  #isStale = false;
  /** The state includes rows that are not durable. */
  #isAhead = false;
  readonly #mark: DecisionMark;
  readonly #relatives = new Relatives();
  readonly #checkpoints: CheckpointSaver;
  #waiting: Waiting;

  constructor(runId: RunId, opening: MailboxOpening, ports: MailboxPorts, holder: Holder) {
    this.tenant = tenantOf(opening);
    this.#runId = runId;
    this.#ports = ports;
    this.#holder = holder;
    this.#waiting = new Waiting(ports, holder.nudge);
    this.#mark = new DecisionMark(runId, ports.crashes);
    this.#checkpoints = new CheckpointSaver(ports.loader.saveCheckpoint, (error) =>
      holder.report('warn', 'checkpoint.save_failed', error),
    );
    if (opening.kind !== 'create') return;
    const { state, workflow, run } = opening;
    this.#creating = opening;
    this.#loaded = { state, workflow, record: run, attempts: this.#attemptsOf(run, workflow), replay: null };
  }

  get loaded(): LoadedRun | null {
    return this.#loaded;
  }

  get isCreating(): boolean {
    return this.#creating !== null;
  }

  get fence(): number | null {
    return this.#lease.fence;
  }

  /** The scheduler claimed a lease that the mailbox has not adopted yet. */
  get hasClaim(): boolean {
    return this.#lease.claimed !== null;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  sawCommit(lastSeq: number): void {
    if (this.#loaded === null || lastSeq >= this.#loaded.state.nextSeq) this.#isStale = true;
  }

  claim(fence: number): void {
    claimed(this.#lease, fence);
    this.#isStale = true;
  }

  cancelCall = async (callId: string, error: RunError) => (await this.#attempts?.cancel(callId, error)) ?? false;

  /** Discards a state that may be ahead of the log; the mailbox loads it again. */
  unload(): void {
    this.#loaded = null;
  }

  /** Whether the log or the run's relatives may know more than the state. */
  needsRefresh({ state, replay }: LoadedRun): boolean {
    return this.#isStale || (replay === null ? this.#mayHaveMissed(state) : replay.needs(state));
  }

  /**
   * Taking a lease clears the due wake, so the new holder has to find out the reason for the wake. The parent of a new
   * run may have ended while the run was created.
   */
  #mayHaveMissed(state: RunState): boolean {
    return needsRelativesCheck(this.#lease) && hasKeptRelatives(state);
  }

  /** Loads the state, or catches it up with the log. Returns the ends of relatives that the run has missed. */
  async refresh(): Promise<readonly Fact[]> {
    const isStale = this.#isStale;
    this.#isStale = false;
    adoptClaim(this.#lease);
    let run = this.#loaded;
    if (run === null) {
      const { state, workflow, record, checkpoint } = await this.#ports.loader.resume(this.#runId);
      const replay = replayOf(record.fork, this.#ports.sources);
      if (replay !== null) this.#denyEffects();
      run = { state, workflow, record, attempts: this.#attempts ?? this.#attemptsOf(record, workflow), replay };
      this.#loaded = run;
      this.#checkpoints.loadedAt(checkpoint);
    } else if (isStale && this.#creating === null) {
      await this.#ports.loader.catchUp(run.state, run.workflow);
    }
    if (run.replay !== null) {
      await run.replay.feed(run);
      return [];
    }
    if (!this.#mayHaveMissed(run.state)) return [];
    const facts = await missedEnds(run.state, this.#ports);
    checkedRelatives(this.#lease);
    return facts;
  }

  #denyEffects(): void {
    this.#ports = portsOfReplay(this.#ports, this.#runId);
    this.#waiting = new Waiting(this.#ports, this.#holder.nudge);
  }

  #attemptsOf({ tenant, contextId, fork }: RestingRun['record'], workflow: Workflow): Attempts {
    const { post } = this.#holder;
    const run = { runId: this.#runId, tenant, contextId, isReplay: fork?.mode === 'replay' };
    this.#attempts = new Attempts(workflow, this.#ports.performers, { ...this.#ports, ...run, post });
    return this.#attempts;
  }

  compose({ state, workflow, attempts, replay }: LoadedRun, facts: readonly Fact[]): Batch {
    const lease = this.#lease;
    attempts.keepOnly(state.calls);
    composing(lease, awaitsEffects(state));
    this.#waiting.endShort();
    this.#isAhead = true;
    // A run that is being created is not in the log yet, so the next process does not meet it.
    if (this.#creating === null) this.#mark.begin(facts);
    const moment: Moment = {
      state,
      workflow,
      facts,
      now: this.#ports.clock.now(),
      maxRows: this.#ports.turns.maxRows,
      limits: this.#ports.limits,
      takenOver: lease.takenOver,
      hasCheckedRelatives: lease.hasCheckedRelatives && lease.fence !== null,
      waitsHere: (until, rows) =>
        this.#waiting.startShort(until, this.tenant, this.#checkpoints.stateBytes + payloadBytes(rows)),
      underWay: (callId) => attempts.isUnderWay(callId),
      broken: this.#ports.stopped(this.tenant, this.#runId),
    };
    const batch = replay === null ? compose(moment) : replay.compose(moment);
    this.#mark.composed();
    if (batch.rows.length === 0) {
      this.#isAhead = false;
      nothingToWrite(lease);
      this.#mark.made();
    }
    return batch;
  }

  append<Refused>(
    { state, replay }: LoadedRun,
    batch: Batch,
    refused: (error: unknown) => Promise<Refused>,
  ): Promise<'acknowledged' | Refused> {
    const { store, turns } = this.#ports;
    const relatives = replay === null ? this.#relatives.toTell(state) : [];
    const request = { runId: this.#runId, batch, creating: this.#creating, fence: this.#lease.fence, relatives };
    const size = sizeOf(batch);
    turns.composed(this.tenant, size);
    return store.log.append(appendOf(this.#ports, request)).then(
      ({ fence }) => {
        turns.committed(this.tenant, size);
        this.appended(batch, fence);
        return 'acknowledged';
      },
      (error: unknown) => {
        turns.committed(this.tenant, size);
        return refused(error);
      },
    );
  }

  /** Returns the fence of an append whose response was lost, or null if it did not take place. */
  find(batch: Batch): Promise<number | null> {
    const { store, owner } = this.#ports;
    return findAppend(store.log, { runId: this.#runId, batch, owner, fence: this.#lease.fence });
  }

  /** Applies a durable batch to the lease. */
  appended(batch: Batch, fence: number): void {
    this.#creating = null;
    this.#isAhead = false;
    this.#mark.made();
    this.#checkpoints.appended(batch.rows);
    const releases = batch.rest !== undefined || endsRun(batch);
    appended(this.#lease, { fence, releases, leavesTakeOver: batch.takeOverLater, isStale: this.#isStale });
    if (typeof batch.rest?.wakeAt === 'number') this.#ports.wakeBy(batch.rest.wakeAt);
  }

  /**
   * After a durable batch: notifies relatives, aborts attempts that are no longer needed, and starts requested calls.
   */
  committed({ state, attempts, replay }: LoadedRun, batch: Batch, isClosing: boolean): void {
    attempts.keepOnly(state.calls);
    this.#waiting.committed();
    if (replay !== null) return;
    this.#relatives.tell(state, this.#tellRelatives);
    // If a lease was claimed meanwhile, `recover` handles the calls requested under the old one.
    if (!isClosing && this.#lease.claimed === null) attempts.startOf(batch, state);
  }

  readonly #tellRelatives = (state: RunState, relatives: readonly RunId[]): void =>
    this.#ports.tellRelatives(this.tenant, state, relatives);

  saveCheckpoint({ state }: LoadedRun): void {
    this.#checkpoints.saveWhenDue(state, this.#lease.fence === null);
  }

  /** Returns true if every open call has an attempt in progress here. The run then waits for a fact or a timer. */
  isSeenTo({ state, attempts }: LoadedRun): boolean {
    if (attempts.unstarted(state).length !== 0) return false;
    if (this.#lease.fence !== null && !this.#waiting.lingers(state)) this.#waiting.setAlarm(state);
    return true;
  }

  /** Sets the alarm to the run's next timer, because only the holder watches it. */
  setAlarm({ state }: LoadedRun): void {
    this.#waiting.setAlarm(state);
  }

  /** Returns true if, according to the store, this process holds the run. */
  isHeldBy(head: RunHead | null): boolean {
    return head?.fence === this.#lease.fence && head?.owner === this.#ports.owner;
  }

  /** Releases the lease. Returns null if there is nothing to release or the lease stays because the run lingers. */
  giveBack({ state, replay }: LoadedRun): Promise<void> | null {
    if (replay === null && this.#waiting.lingers(state)) return null;
    const fence = givenBack(this.#lease);
    return fence === null ? null : this.release(fence, state.ended || replay !== null ? null : nextTimer(state));
  }

  release(fence: number, wakeAt: number | null): Promise<void> {
    return releaseLease(this.#ports, { runId: this.#runId, fence, wakeAt });
  }

  /** Drops everything except the lease itself, which the caller releases or has lost. */
  drop(): void {
    const unusedClaim = dropped(this.#lease);
    if (unusedClaim !== null) void this.release(unusedClaim, this.#ports.clock.now());
    this.#loaded = null;
    this.#attempts?.keepOnly(new Map());
  }

  /** The run leaves memory. A state that is needed again soon stays with the loader. */
  leave(): void {
    this.#waiting.stop();
    if (this.#loaded === null || this.#isAhead || this.#loaded.state.ended || this.#loaded.replay !== null) return;
    const { state, workflow, record } = this.#loaded;
    const wakeAt = nextTimer(state);
    if (wakeAt === null || wakeAt - this.#ports.clock.now() > RECENT_MS) return;
    this.#ports.loader.keep({ state, workflow, record, checkpoint: this.#checkpoints.newest });
  }
}
