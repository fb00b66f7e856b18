/** Streams of the mode `values`: the state of a run after each transition, folded once for all who follow it live. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTransition, newRunView, type RunId } from '@cairn/protocol';
import { foldRow, type LoadView } from '../../engine/stepping/run-view.ts';
import type { Sink, Subscription } from '../../log/feed/feed.ts';
import { isUrgent } from '../../log/feed/frame.ts';
import type { Lens } from '../../log/feed/lens.ts';
import type { Commit, EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { FollowedState, type StateText, shownStates, stateText } from './followed-state.ts';

export interface SnapshotRange {
  readonly runId: RunId;
  /** Begin with the state as it is now; else with the state after the run's first transition. */
  readonly fresh: boolean;
  readonly form: Lens['form'];
}

/** Rows that are folded in one turn of the event loop by who begins at the start of a run. */
const PAGE = { limit: 100, maxBytes: 262_144 };

interface Followed {
  readonly readers: Set<SnapshotReader>;
  /** What was told while the state was loaded. */
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

  /** Writes states in order and ends after that of the terminal event. Who falls far behind is shown the newest next. */
  subscribe(range: SnapshotRange, sink: Sink): Subscription {
    const { runId } = range;
    const followed = this.#follow(runId);
    const reader = new SnapshotReader(this.#log, range, sink);
    reader.onClose = () => this.#leave(runId, followed, reader);
    followed.readers.add(reader);
    void reader.begin(followed.ready);
    return reader;
  }

  #follow(runId: RunId): Followed {
    this.#unfollow ??= this.#log.follow((commit) => this.#told(commit));
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const ready = this.#load(runId).then((view) => {
      followed.state = new FollowedState(view);
      followed.state.advance(followed.waiting);
      followed.waiting = [];
      return followed.state;
    });
    const followed: Followed = { readers: new Set(), waiting: [], state: null, ready };
    this.#runs.set(runId, followed);
    return followed;
  }

  #leave(runId: RunId, followed: Followed, reader: SnapshotReader): void {
    followed.readers.delete(reader);
    if (followed.readers.size > 0 || this.#runs.get(runId) !== followed) return;
    this.#runs.delete(runId);
    if (this.#runs.size > 0) return;
    this.#unfollow?.();
    this.#unfollow = null;
  }

  #told({ runId, rows }: Commit): void {
    const followed = this.#runs.get(runId);
    if (followed === undefined) return;
    if (followed.state === null) {
      followed.waiting.push(...rows);
      return;
    }
    followed.state.advance(rows);
    for (const reader of [...followed.readers]) reader.pump();
  }
}

class SnapshotReader implements Subscription {
  readonly #log: EventLog;
  readonly #range: SnapshotRange;
  readonly #sink: Sink;
  /** Set once the reader has caught up with it. */
  #state: FollowedState | null = null;
  /** seq of the last event whose state was written or passed over. */
  #after = -1;
  #stalled = false;
  #woken: (() => void) | null = null;
  #closed = false;
  onClose: (() => void) | null = null;

  constructor(log: EventLog, range: SnapshotRange, sink: Sink) {
    this.#log = log;
    this.#range = range;
    this.#sink = sink;
  }

  async begin(ready: Promise<FollowedState>): Promise<void> {
    try {
      const state = await ready;
      if (this.#range.fresh) {
        if (!this.#closed) this.#write([state.now()]);
      } else await this.#replay(state);
      this.#state = state;
      this.pump();
    } catch (fault) {
      this.#finish(fault);
    }
  }

  resume(): void {
    this.#stalled = false;
    this.#woken?.();
    this.pump();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#woken?.();
    this.onClose?.();
  }

  /** Writes what the shared state has beyond this reader. */
  pump(): void {
    const state = this.#state;
    while (state !== null && !this.#closed && !this.#stalled) {
      const isBehind = this.#after < state.floor;
      const next = isBehind ? [state.now()] : state.after(this.#after);
      if (next.length === 0) return;
      this.#write(next);
    }
  }

  /** From the start of the run, at the pace of the sink, until all that is left is kept by the shared state. */
  async #replay(state: FollowedState): Promise<void> {
    const view = newRunView(this.#range.runId);
    while (!this.#closed) {
      const rows = await this.#log.read({ runId: view.runId, after: view.lastSeq, ...PAGE });
      const states: StateText[] = [];
      for (const row of rows) {
        foldRow(view, row);
        if (isTransition(row.type)) states.push(stateText(view, isUrgent(row.type)));
      }
      this.#after = view.lastSeq;
      if (states.length > 0 && !this.#closed) this.#write(states);
      if (rows.length === 0 && view.lastSeq >= state.floor) return;
      if (this.#stalled && !this.#closed) await new Promise<void>((resolve) => (this.#woken = resolve));
      this.#woken = null;
      // Others have their turn between two pages, however long the run is.
      await nextTurn();
    }
  }

  #write(states: readonly StateText[]): void {
    const shown = shownStates(states, this.#range.form);
    const { last } = states.at(-1)!;
    this.#after = Math.max(this.#after, shown.upTo);
    if (last && this.#sink.writeLast !== undefined) this.#sink.writeLast(shown.text, shown);
    else if (!this.#sink.write(shown.text, shown)) this.#stalled = true;
    if (last) this.#finish();
  }

  #finish(fault?: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#sink.end(fault);
  }
}
