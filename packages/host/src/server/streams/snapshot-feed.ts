/** Streams of the mode `values`: the state of a run after each transition, folded once for all live subscribers. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTerminalStatus, isTransition, newRunView, type RunId, type RunView } from '@cairn/protocol';
import { foldRow, type LoadView } from '../../engine/loading/run-view.ts';
import type { Timers } from '../../engine/ports.ts';
import type { FairTurns } from '../../fair-turns.ts';
import type { InTurn } from '../../log/feed/feed.ts';
import type { Form } from '../../log/feed/lens.ts';
import { isUrgent } from '../../log/feed/pace.ts';
import type { Chunk, Sink, Subscription } from '../../log/feed/sink.ts';
import { type Source, Subscriber } from '../../log/feed/subscriber.ts';
import type { Commit, EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { PassingMap } from '../../passing-map.ts';
import { renderedInTurns } from '../http/json-pieces.ts';
import { FollowedState, SmallStates, type StateText, stateChunk, stateDocument } from './followed-state.ts';

export interface SnapshotRange {
  readonly runId: RunId;
  /** Begin with the state as it is now; else with the state after the run's first transition. */
  readonly fresh: boolean;
  readonly form: Form;
}

/** Rows that a subscriber from the start of a run folds in one turn of the event loop. */
const PAGE = { limit: 100, maxBytes: 262_144 };

/** Characters of large states that one run shows in a second: one of 1 MiB each second, one of 4 MiB in four. */
const SHOWN_PER_SECOND = 1_048_576;

export interface SnapshotPorts {
  readonly log: EventLog;
  readonly load: LoadView;
  /** Large states are rendered in turns with other work, tenant by tenant. */
  readonly turns: FairTurns;
  readonly timers: Timers;
  readonly now: () => number;
  /** A thousand writes take 20 ms. Default: all at once. */
  readonly inTurn?: InTurn | undefined;
}

interface Followed {
  readonly subscribers: Set<Subscriber>;
  /** Subscribers that wait for their turn, and one more while they are told. */
  waiting: number;
  /** Rows that were committed while the state was loaded. */
  early: Row[];
  state: FollowedState | null;
  readonly ready: Promise<FollowedState>;
  /** When its next large state may be shown. */
  dueAt: number;
  /** A large state is being rendered, or waits for its time. */
  isComing: boolean;
  hasShownEnd: boolean;
}

export class SnapshotFeed {
  readonly #ports: SnapshotPorts;
  readonly #log: EventLog;
  readonly #runs = new PassingMap<RunId, Followed>();
  #unfollow: (() => void) | null = null;

  constructor(ports: SnapshotPorts) {
    this.#ports = ports;
    this.#log = ports.log;
  }

  /** Writes states in order and ends after that of the terminal event. A subscriber far behind gets the newest next. */
  subscribe(range: SnapshotRange, sink: Sink): Subscription {
    const { runId } = range;
    const followed = this.#follow(runId);
    const subscriber = new Subscriber(sink);
    subscriber.onClose = () => this.#leave(runId, followed, subscriber);
    subscriber.inTurn = (pump) => this.#inTurn(followed, pump);
    followed.subscribers.add(subscriber);
    const ask = () => this.#ask(followed);
    subscriber.begin(new StateSource(range, { log: this.#log, ready: followed.ready, ask }));
    subscriber.pump();
    return subscriber;
  }

  /** Ends the streams of a run that was purged. */
  forget(runId: RunId): void {
    for (const subscriber of [...(this.#runs.get(runId)?.subscribers ?? [])]) subscriber.finish();
  }

  #follow(runId: RunId): Followed {
    this.#unfollow ??= this.#log.follow((commit) => this.#onCommit(commit), {
      waits: (of) => this.#runs.has(of.runId),
    });
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const ready = this.#ports.load(runId).then((view) => {
      followed.state = new FollowedState(view);
      followed.state.advance(followed.early);
      followed.early = [];
      return followed.state;
    });
    const followed: Followed = {
      subscribers: new Set(),
      waiting: 0,
      early: [],
      state: null,
      ready,
      dueAt: 0,
      isComing: false,
      hasShownEnd: false,
    };
    this.#runs.set(runId, followed);
    return followed;
  }

  #leave(runId: RunId, followed: Followed, subscriber: Subscriber): void {
    followed.subscribers.delete(subscriber);
    if (followed.subscribers.size > 0 || this.#runs.get(runId) !== followed) return;
    this.#runs.delete(runId);
    if (this.#runs.size > 0) return;
    this.#unfollow?.();
    this.#unfollow = null;
  }

  /** Renders a large state for all who want it, as soon as its time has come. The end of a run does not wait. */
  #ask(followed: Followed): void {
    const { state } = followed;
    if (followed.isComing || state === null) return;
    followed.isComing = true;
    const { timers, now } = this.#ports;
    const isEnd = isTerminalStatus(state.view.status) && !followed.hasShownEnd;
    const waitMs = isEnd ? 0 : followed.dueAt - now();
    if (waitMs > 0) timers.after(waitMs, () => void this.#show(followed, state));
    else void this.#show(followed, state);
  }

  async #show(followed: Followed, state: FollowedState): Promise<void> {
    const { turns, now } = this.#ports;
    const { lastSeq, status, owner } = state.view;
    const isLast = isTerminalStatus(status);
    // Detached from the view, which goes on meanwhile.
    const parts = await renderedInTurns(stateDocument(state.view), { owner: owner?.tenant ?? '', turns });
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    followed.dueAt = now() + (size / SHOWN_PER_SECOND) * 1_000;
    followed.isComing = false;
    followed.hasShownEnd = isLast;
    state.show({ seq: lastSeq, parts, size, urgent: true, isLast });
    this.#offer(followed);
  }

  #onCommit({ runId, rows }: Commit): void {
    const followed = this.#runs.get(runId);
    if (followed === undefined) return;
    if (followed.state === null) {
      followed.early.push(...rows);
      return;
    }
    followed.state.advance(rows);
    this.#offer(followed);
  }

  #offer(followed: Followed): void {
    followed.waiting += 1;
    for (const subscriber of [...followed.subscribers]) subscriber.pump();
    this.#taken(followed);
  }

  #inTurn(followed: Followed, pump: () => void): void {
    const { inTurn = (_, work) => work() } = this.#ports;
    followed.waiting += 1;
    inTurn(followed.state?.view.owner?.tenant ?? '', () => {
      pump();
      this.#taken(followed);
    });
  }

  /** A large text is dropped once all who can take it have it. */
  #taken(followed: Followed): void {
    followed.waiting -= 1;
    if (followed.waiting === 0) followed.state?.drop();
  }
}

/** What one subscriber needs of the feed. */
interface StateSourcePorts {
  readonly log: EventLog;
  readonly ready: Promise<FollowedState>;
  /** A state is wanted that is too large to be rendered after each transition. */
  readonly ask: () => void;
}

/** The states of one run for one subscriber: its own fold of the history, then the state that all share. */
class StateSource implements Source {
  readonly #ports: StateSourcePorts;
  readonly #form: Form;
  /** The fold of the history; null when the subscriber begins with the state as it is. */
  readonly #history: RunView | null;
  readonly #small = new SmallStates();
  /** Null while the subscriber catches up. */
  #state: FollowedState | null = null;
  /** seq of the last event whose state was shown or passed over. */
  #after = -1;
  #pages = 0;

  constructor({ runId, fresh, form }: SnapshotRange, ports: StateSourcePorts) {
    this.#ports = ports;
    this.#form = form;
    this.#history = fresh ? null : newRunView(runId);
  }

  get isBehind(): boolean {
    return this.#state === null;
  }

  next(): Chunk | null {
    const state = this.#state;
    if (state === null) return null;
    const states = state.after(this.#after);
    if (states.length === 0 && this.#after < state.lastTransition) this.#ports.ask();
    return this.#shown(states);
  }

  async page(): Promise<Chunk | null> {
    const state = await this.#ports.ready;
    if (this.#history === null) {
      this.#state = state;
      return null;
    }
    // Other work gets its turn between two pages, however long the run is.
    if (this.#pages > 0) await nextTurn();
    this.#pages += 1;
    return this.#replay(state, this.#history);
  }

  /** One page of the history; level with the shared state once that keeps all that follows. */
  async #replay(state: FollowedState, view: RunView): Promise<Chunk | null> {
    const rows = await this.#ports.log.read({ runId: view.runId, after: view.lastSeq, ...PAGE });
    const states: StateText[] = [];
    for (const row of rows) {
      foldRow(view, row);
      this.#small.add(row);
      const text = isTransition(row.type) ? this.#small.textOf(view, isUrgent(row.type)) : null;
      if (text !== null) states.push(text);
      if (this.#small.isLarge) break;
    }
    this.#after = this.#small.isLarge ? (states.at(-1)?.seq ?? this.#after) : view.lastSeq;
    // Of a large state, only the newest is shown.
    if (this.#small.isLarge || (rows.length === 0 && view.lastSeq >= state.floor)) this.#state = state;
    return this.#shown(states);
  }

  #shown(states: readonly StateText[]): Chunk | null {
    const chunk = stateChunk(states, this.#form);
    if (chunk !== null) this.#after = Math.max(this.#after, chunk.upTo);
    return chunk;
  }
}
