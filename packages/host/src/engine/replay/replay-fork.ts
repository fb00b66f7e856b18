/**
 * Steps a replay: a fork that repeats the recorded run. It decides as the engine does and takes every fact from the
 * record. It starts no attempt and no child, waits for no timer and asks no question.
 */
import { audienceIn, type FoldEvent, type RunId, taskFace } from '@cairn/protocol';
import type { RunFork } from '../../log/ports/event-log.ts';
import { newRow } from '../../log/ports/new-row.ts';
import type { NewRow } from '../../log/ports/rows.ts';
import { type Batch, MAX_BYTES, MAX_COST, type Moment } from '../core/compose.ts';
import { decide } from '../core/decide.ts';
import { evolve } from '../core/evolve.ts';
import { type Fact, timerFired } from '../core/facts.ts';
import { stamp } from '../core/stamp.ts';
import type { Draft, RunState } from '../core/state.ts';
import { dueTimers, nextTimer } from '../core/timers.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { divergedAtRefusalRow, divergedRow, refusalError, refusalFlip } from './divergence-rows.ts';
import { failWithoutRecord, unrecorded } from './missing-record.ts';
import type { Divergence, RecordedRow } from './recorded-row.ts';
import type { RecordedFact, RecordedWork } from './recorded-work.ts';
import { Redecision } from './redecision.ts';
import { anchorOf, servedDraft } from './served-facts.ts';
import { type SourcePorts, SourceReader } from './source-reader.ts';

/** Where the replay stands. It follows the record row by row until it differs from it, and then takes facts by their ids. */
type Place =
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'following';
      readonly walk: Redecision;
      rows: readonly RecordedRow[];
      next: number;
      isLast: boolean;
    }
  | { readonly kind: 'apart'; work: RecordedWork | null; wanted: RecordedFact | null; served: readonly RecordedRow[] };

interface Run {
  readonly state: RunState;
  readonly workflow: Workflow;
}

/** The parts of a moment that a replay uses: its time is the recorded one. */
export type ReplayMoment = Pick<Moment, 'state' | 'workflow' | 'facts' | 'maxRows' | 'broken'>;

export class ReplayFork {
  readonly #source: SourceReader;
  readonly #sourceRunId: RunId;
  #named: RunId | null = null;
  #place: Place = { kind: 'unknown' };
  /** The position after the last batch. Another one means that another writer has appended. */
  #at = -1;
  #rows: NewRow[] = [];
  /** What the expressions of decisions apart from the record have cost. */
  #cost = 0;

  constructor(fork: RunFork, ports: SourcePorts) {
    this.#sourceRunId = fork.sourceRunId;
    this.#source = new SourceReader(fork, ports);
  }

  /** Whether the next batch needs more of the record. */
  needs({ nextSeq, ended }: RunState): boolean {
    if (ended) return false;
    const place = this.#place;
    if (place.kind === 'unknown' || this.#at !== nextSeq) return true;
    if (place.kind === 'following') return place.next >= place.rows.length && !place.isLast;
    return place.work === null || (place.wanted !== null && place.served.length === 0);
  }

  /** Reads what the next batch needs. */
  async feed({ state, workflow }: Run): Promise<void> {
    this.#named ??= await this.#source.named();
    if (this.#place.kind === 'unknown' || this.#at !== state.nextSeq) await this.#findPlace({ state, workflow });
    const place = this.#place;
    if (place.kind === 'following' && place.next >= place.rows.length && !place.isLast) {
      const { rows, isLast } = await this.#source.page(state.nextSeq - 1);
      this.#place = { ...place, rows, next: 0, isLast };
    }
    if (place.kind !== 'apart') return;
    place.work ??= await this.#source.work();
    if (place.wanted !== null && place.served.length === 0) {
      place.served = await this.#source.rowsAt(place.wanted.seqs);
    }
  }

  async #findPlace(run: Run): Promise<void> {
    const { state, workflow } = run;
    this.#at = state.nextSeq;
    if (!(await this.#source.followsRecord(state.view.runId, state.nextSeq))) {
      this.#leaveRecord();
      return;
    }
    const underWay = await this.#source.underWayAt(state.nextSeq, workflow);
    const walk = new Redecision(run, (event, row) => this.#fold(run, event, row), underWay);
    this.#place = { kind: 'following', walk, rows: [], next: 0, isLast: false };
  }

  #leaveRecord(): void {
    if (this.#place.kind === 'following') this.#cost += this.#place.walk.cost;
    this.#place = { kind: 'apart', work: null, wanted: null, served: [] };
  }

  compose(moment: ReplayMoment): Batch {
    const { state } = moment;
    const base = state.nextSeq;
    const { runId } = state;
    this.#rows = [];
    // The recorded events name the run that they were written for.
    Object.assign(state, { runId: this.#named ?? runId });
    const facts: Fact[] = [];
    let hasMore = true;
    try {
      for (const fact of moment.facts) if (this.#accept(moment, fact)) facts.push(fact);
      const isFull = this.#fullness(moment.maxRows);
      while (!isFull() && hasMore && !state.ended) hasMore = this.#step(moment);
    } finally {
      Object.assign(state, { runId });
    }
    this.#at = state.nextSeq;
    const isWhole = !this.needs(state) && (state.ended || !hasMore);
    return {
      base,
      rows: this.#rows,
      facts,
      left: [],
      idempotency: this.#recordsOf(facts, state),
      effects: [],
      takeOverLater: false,
      isWhole,
      isEnding: state.failure !== null || state.cancel !== null,
      rest: isWhole && !state.ended ? { wakeAt: null } : undefined,
    };
  }

  /** Bounds a batch as those of other runs are, so that a replay yields the event loop as often as they do. */
  #fullness(maxRows: number): () => boolean {
    const cost = this.#costSoFar();
    let counted = 0;
    let bytes = 0;
    return () => {
      for (; counted < this.#rows.length; counted += 1) bytes += this.#rows[counted]?.payload.length ?? 0;
      return counted >= maxRows || bytes >= MAX_BYTES || this.#costSoFar() - cost >= MAX_COST;
    };
  }

  #costSoFar(): number {
    return this.#cost + (this.#place.kind === 'following' ? this.#place.walk.cost : 0);
  }

  #recordsOf(facts: readonly Fact[], state: RunState): Batch['idempotency'] {
    const records = facts.flatMap((fact) => fact.idempotencyRecord?.(state) ?? []);
    return this.#rows.length === 0 || records.length === 0 ? undefined : records;
  }

  /** A command to the replay itself, such as a cancel. The run then leaves the record. */
  #accept(run: ReplayMoment, fact: Fact): boolean {
    const { state, workflow } = run;
    try {
      const drafts = fact.propose(state, state.now, workflow);
      this.#write(run, drafts);
      const isFollowing = this.#place.kind === 'following' && (drafts.length > 0 || state.failure !== null);
      if (isFollowing) this.#leaveRecord();
      return true;
    } catch (error) {
      fact.refused(error);
      return false;
    }
  }

  /** Returns false if nothing more can be done now: the record is needed, or the run rests. */
  #step(run: ReplayMoment): boolean {
    const place = this.#place;
    if (place.kind === 'unknown') return false;
    if (place.kind === 'apart') return this.#stepApart(run, place);
    const row = place.rows[place.next];
    if (row === undefined) {
      if (place.isLast) this.#leaveRecord();
      return false;
    }
    const divergence = place.walk.take(row);
    if (divergence === null) place.next += 1;
    else this.#diverge(run, divergence, place.walk.due);
    return true;
  }

  /** Rows that are due refer to their own positions, so the news comes after them. */
  #diverge(run: ReplayMoment, divergence: Divergence, due: readonly Draft[]): void {
    const at = divergence.recorded?.at ?? run.state.now;
    const flip = refusalFlip(divergence, run.workflow);
    this.#leaveRecord();
    if (flip !== null) {
      this.#write(run, [divergedAtRefusalRow(this.#sourceRunId, divergence, flip)], at);
      run.state.failure ??= { seq: run.state.nextSeq - 1, nodeId: null, error: refusalError(divergence, flip) };
      return;
    }
    this.#write(run, due, at);
    this.#write(run, [divergedRow(this.#sourceRunId, divergence)], at);
  }

  #stepApart(run: ReplayMoment, place: Extract<Place, { kind: 'apart' }>): boolean {
    const { state, workflow } = run;
    try {
      const { drafts, cost = 0 } = decide(state, workflow);
      this.#cost += cost;
      if (drafts.length > 0) {
        this.#write(run, drafts);
        return true;
      }
    } catch (error) {
      if (state.failure !== null) throw error;
      run.broken(error);
      const message = error instanceof Error ? error.message : String(error);
      state.failure = { seq: state.nextSeq - 1, nodeId: null, error: { code: 'internal_error', message } };
      return true;
    }
    if (place.work === null || state.pause?.pausedAt != null) return false;
    if (place.served.length > 0) {
      this.#serve(run, place);
      return true;
    }
    place.wanted = place.work.nextFor(state);
    return place.wanted === null && this.#goOnWithoutRecord(run, place.work);
  }

  #serve(run: ReplayMoment, place: Extract<Place, { kind: 'apart' }>): void {
    const { state, workflow } = run;
    const { wanted, served } = place;
    place.wanted = null;
    place.served = [];
    if (wanted === null) return;
    if (wanted.kind === 'timer') {
      const timer = state.timers[wanted.id];
      const at = Math.max(served[0]?.at ?? 0, timer?.fireAt ?? 0);
      if (timer !== undefined) this.#write(run, [timerFired(timer)], at);
      return;
    }
    const cause = anchorOf(state, wanted);
    const attempt = state.calls.get(wanted.id)?.attempt;
    for (const row of served) this.#write(run, [servedDraft(row, { workflow, cause, attempt })], row.at);
  }

  /** Fails work that has no record; then lets the next timer fire, without a wait. */
  #goOnWithoutRecord(run: ReplayMoment, work: RecordedWork): boolean {
    const { state } = run;
    const open = unrecorded(state, work);
    if (open !== null) {
      this.#write(run, failWithoutRecord(run, open, this.#sourceRunId));
      return true;
    }
    const at = nextTimer(state);
    if (at === null) return false;
    this.#write(run, dueTimers(state, at).map(timerFired), at);
    return true;
  }

  #write({ state, workflow }: Run, drafts: readonly Draft[], at = state.now): void {
    this.#rows.push(...stamp(state, workflow, drafts, Math.max(at, state.now)));
  }

  /** Writes a row of the record again: its text, its time and its cause are those of the record. */
  #fold({ state, workflow }: Run, event: FoldEvent, { at, type, nodeId, cause, payload }: RecordedRow): void {
    evolve(state, workflow, event);
    const face = taskFace(state.view, event);
    const audience = audienceIn(state.view, event);
    const fields = { at, type, audience, payload, nodeId: nodeId ?? undefined, cause: cause ?? undefined };
    const row = newRow(fields, face);
    state.logBytes += row.bytes;
    this.#rows.push(row);
  }
}

/** Null for every other run. */
export const replayOf = (fork: RunFork | null | undefined, ports: SourcePorts): ReplayFork | null =>
  fork?.mode === 'replay' ? new ReplayFork(fork, ports) : null;
