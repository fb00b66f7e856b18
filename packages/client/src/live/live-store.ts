/** Data that a stream keeps up to date, for user interfaces: subscribe to it, read it, never poll. */
import { nextFrame, realTimers, type Timers } from '../timers.ts';

export interface Live<View> {
  /** What there is now: the same object until something changes. */
  getSnapshot(): View;
  /** What there was before the first connection. A page that a server rendered begins with it. */
  getInitialSnapshot(): View;
  /** Calls `listener` after changes, at most once a frame. The connection is open while anybody is subscribed. */
  subscribe(listener: () => void): () => void;
  /** Connects anew, after an error or at the wish of the user. */
  reconnect(): void;
}

export interface LiveStatus {
  /**
   * `idle` without subscribers, `connecting` before the first data, `live`, `broken` while the connection is restored by
   * itself, `closed` after the end of the stream or an error that no retry can help.
   */
  readonly connection: 'idle' | 'connecting' | 'live' | 'broken' | 'closed';
  /** Why the connection is closed; null if it is not, or if the stream came to its end. */
  readonly error: unknown;
}

export interface LiveSource<Item, Data> {
  /** The stream from where the data is; null when there is nothing to follow yet. */
  open(data: Data, options: { readonly signal: AbortSignal; readonly onBreak: () => void }): AsyncIterable<Item> | null;
  reduce(data: Data, item: Item): Data;
}

/** A component that is mounted again at once, as in React's strict mode, finds the connection open. */
const REST_MS = 1_000;

/** The calls of a store, each free to be passed on by itself. */
export const liveCalls = <Item, Data extends object>(store: LiveStore<Item, Data>): Live<Data & LiveStatus> => ({
  getSnapshot: store.getSnapshot,
  getInitialSnapshot: store.getInitialSnapshot,
  subscribe: store.subscribe,
  reconnect: store.reconnect,
});

export class LiveStore<Item, Data extends object> implements Live<Data & LiveStatus> {
  readonly #source: LiveSource<Item, Data>;
  readonly #timers: Timers;
  readonly #listeners = new Set<() => void>();
  #data: Data;
  #status: LiveStatus = { connection: 'idle', error: null };
  readonly #initial: Data & LiveStatus;
  #snapshot: Data & LiveStatus;
  #connected: AbortController | null = null;
  #cancelFrame: (() => void) | null = null;
  #cancelRest: (() => void) | null = null;

  constructor(source: LiveSource<Item, Data>, data: Data, timers: Timers = realTimers) {
    this.#source = source;
    this.#timers = timers;
    this.#data = data;
    this.#initial = { ...data, ...this.#status };
    this.#snapshot = this.#initial;
  }

  get data(): Data {
    return this.#data;
  }

  readonly getSnapshot = (): Data & LiveStatus => this.#snapshot;

  readonly getInitialSnapshot = (): Data & LiveStatus => this.#initial;

  readonly subscribe = (listener: () => void): (() => void) => {
    // Each subscription counts for itself, also of the same function twice.
    const own = () => listener();
    this.#listeners.add(own);
    this.#cancelRest?.();
    this.#cancelRest = null;
    // Who comes first after an error, such as the end of a session, tries anew.
    const isOver = this.#listeners.size === 1 && this.#status.connection === 'closed' && this.#status.error !== null;
    if (this.#connected === null || isOver) this.#connect();
    return () => {
      if (!this.#listeners.delete(own) || this.#listeners.size > 0) return;
      this.#cancelRest = this.#timers.after(REST_MS, () => this.#rest());
    };
  };

  readonly reconnect = (): void => {
    if (this.#listeners.size === 0) return;
    this.#connected?.abort();
    this.#connect();
  };

  /** Changes the data from outside the stream. */
  update(changes: Partial<Data>): void {
    this.#data = { ...this.#data, ...changes };
    this.#changed();
  }

  #connect(): void {
    const connected = new AbortController();
    const { signal } = connected;
    const onBreak = () => this.#become(signal, { connection: 'broken', error: null });
    const stream = this.#source.open(this.#data, { signal, onBreak });
    if (stream === null) return;
    this.#connected = connected;
    listenToNetwork(this.reconnect, onBreak, signal);
    this.#become(signal, { connection: 'connecting', error: null });
    void this.#read(stream, signal);
  }

  async #read(stream: AsyncIterable<Item>, signal: AbortSignal): Promise<void> {
    try {
      for await (const item of stream) {
        if (signal.aborted) return;
        const data = this.#source.reduce(this.#data, item);
        const isChanged = data !== this.#data;
        this.#data = data;
        if (this.#status.connection !== 'live') this.#become(signal, { connection: 'live', error: null });
        else if (isChanged) this.#changed();
      }
      this.#become(signal, { connection: 'closed', error: null });
    } catch (error) {
      this.#become(signal, { connection: 'closed', error });
    }
  }

  #become(signal: AbortSignal, status: LiveStatus): void {
    if (signal.aborted) return;
    this.#status = status;
    this.#changed();
  }

  #rest(): void {
    this.#cancelRest = null;
    this.#connected?.abort();
    this.#connected = null;
    this.#status = { connection: 'idle', error: null };
    this.#publish();
  }

  #changed(): void {
    this.#cancelFrame ??= nextFrame(this.#timers, () => this.#publish());
  }

  #publish(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = null;
    this.#snapshot = { ...this.#data, ...this.#status };
    for (const listener of this.#listeners) listener();
  }
}

/** A browser knows of its network before a connection does. Elsewhere there is nothing to listen to. */
function listenToNetwork(onBack: () => void, onLost: () => void, signal: AbortSignal): void {
  if (typeof addEventListener !== 'function') return;
  addEventListener('online', onBack, { signal });
  addEventListener('offline', onLost, { signal });
}
