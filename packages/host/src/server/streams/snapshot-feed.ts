/** Streams of the mode `values`: the state of a run after each transition, folded once for all live subscribers. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTransition, newRunView, type RunId, type RunView } from '@cairn/protocol';
import { foldRow, type LoadView } from '../../engine/stepping/run-view.ts';
import type { Form } from '../../log/feed/lens.ts';
import { isUrgent } from '../../log/feed/pace.ts';
import type { Chunk, Sink, Subscription } from '../../log/feed/sink.ts';
import { type Source, Subscriber } from '../../log/feed/subscriber.ts';
import type { Commit, EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { FollowedState, type StateText, stateChunk, stateText } from './followed-state.ts';

export interface SnapshotRange {
  readonly runId: RunId;
  /** Begin with the state as it is now; else with the state after the run's first transition. */
  readonly fresh: boolean;
  readonly form: Form;
}

/** Rows that a subscriber from the start of a run folds in one turn of the event loop. */
const PAGE = { limit: 100, maxBytes: 262_144 };

interface Followed {
  readonly subscribers: Set<Subscriber>;
  /** Rows that were committed while the state was loaded. */
  waiting: Row[];
  state: FollowedState | null;
  readonly ready: Promise<FollowedState>;
}

export class SnapshotFeed {
  readonly #log: EventLog;
  readonly #load: LoadView;
  readonly #runs = new Map<RunId, Followed>();
  #unfollow: (() => void) | null = null;

  constructor(log: EventLog, load: LoadView) {
    this.#log = log;
    this.#load = load;
  }

  /** Writes states in order and ends after that of the terminal event. A subscriber far behind gets the newest next. */
  subscribe(range: SnapshotRange, sink: Sink): Subscription {
    const { runId } = range;
    const followed = this.#follow(runId);
    const subscriber = new Subscriber(sink);
    subscriber.onClose = () => this.#leave(runId, followed, subscriber);
    followed.subscribers.add(subscriber);
    subscriber.begin(new StateSource(this.#log, range, followed.ready));
    subscriber.pump();
    return subscriber;
  }

  #follow(runId: RunId): Followed {
    this.#unfollow ??= this.#log.follow((commit) => this.#onCommit(commit));
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const ready = this.#load(runId).then((view) => {
      followed.state = new FollowedState(view);
      followed.state.advance(followed.waiting);
      followed.waiting = [];
      return followed.state;
    });
    const followed: Followed = { subscribers: new Set(), waiting: [], state: null, ready };
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

  #onCommit({ runId, rows }: Commit): void {
    const followed = this.#runs.get(runId);
    if (followed === undefined) return;
    if (followed.state === null) {
      followed.waiting.push(...rows);
      return;
    }
    followed.state.advance(rows);
    for (const subscriber of [...followed.subscribers]) subscriber.pump();
  }
}

/** The states of one run for one subscriber: its own fold of the history, then the state that all share. */
class StateSource implements Source {
  readonly #log: EventLog;
  readonly #form: Form;
  readonly #ready: Promise<FollowedState>;
  /** The fold of the history; null when the subscriber begins with the state as it is. */
  readonly #history: RunView | null;
  /** Null while the subscriber catches up. */
  #state: FollowedState | null = null;
  /** seq of the last event whose state was shown or passed over. */
  #after = -1;
  #pages = 0;

  constructor(log: EventLog, { runId, fresh, form }: SnapshotRange, ready: Promise<FollowedState>) {
    this.#log = log;
    this.#form = form;
    this.#ready = ready;
    this.#history = fresh ? null : newRunView(runId);
  }

  get isBehind(): boolean {
    return this.#state === null;
  }

  next(): Chunk | null {
    const state = this.#state;
    if (state === null) return null;
    return this.#shown(this.#after < state.floor ? [state.now()] : state.after(this.#after));
  }

  async page(): Promise<Chunk | null> {
    const state = await this.#ready;
    if (this.#history === null) {
      this.#state = state;
      return this.#shown([state.now()]);
    }
    // Other work gets its turn between two pages, however long the run is.
    if (this.#pages > 0) await nextTurn();
    this.#pages += 1;
    return this.#replay(state, this.#history);
  }

  /** One page of the history; level with the shared state once that keeps all that follows. */
  async #replay(state: FollowedState, view: RunView): Promise<Chunk | null> {
    const rows = await this.#log.read({ runId: view.runId, after: view.lastSeq, ...PAGE });
    const states: StateText[] = [];
    for (const row of rows) {
      foldRow(view, row);
      if (isTransition(row.type)) states.push(stateText(view, isUrgent(row.type)));
    }
    this.#after = view.lastSeq;
    if (rows.length === 0 && view.lastSeq >= state.floor) this.#state = state;
    return this.#shown(states);
  }

  #shown(states: readonly StateText[]): Chunk | null {
    const chunk = stateChunk(states, this.#form);
    if (chunk !== null) this.#after = Math.max(this.#after, chunk.upTo);
    return chunk;
  }
}
