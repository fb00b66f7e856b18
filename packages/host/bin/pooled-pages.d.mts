interface Memory {
  readonly rss: number;
  readonly heapTotal: number;
  readonly external: number;
}

/** Has V8 give memory back that it keeps after a peak. Returns how to stop. */
export function releasePooledPages(options?: {
  readonly memoryUsage?: () => Memory;
  readonly lookMs?: number;
}): () => void;

/** How much of what lies beside the heap is V8's pool. */
export class PoolEstimate {
  /** Whether the pool is to be emptied, with so many bytes beside the heap. */
  isLarge(beside: number): boolean;
  /** So much is left after a collection that was to empty it. */
  collected(beside: number): void;
}

/** Chooses the moment in which V8 empties its pool. Times are in milliseconds. */
export class PoolChoice {
  readonly isTold: boolean;
  /** What V8 is told after a look; null for nothing new. `utilization` is that of the event loop since the last look. */
  look(seen: { readonly memory: Memory; readonly utilization: number; readonly now: number }): PoolOrder | null;
  /** A large collection is over. */
  collected(seen: { readonly memory: Memory; readonly now: number }): PoolOrder;
}

/** To begin a collection that empties the pool, to empty it in the next one, or to do as usual. */
export type PoolOrder = 'begin' | 'reduce' | 'usual';
