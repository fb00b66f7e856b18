/** Has V8 give memory back that it keeps after a peak. Returns how to stop. */
export function releasePooledPages(options?: {
  readonly memoryUsage?: () => { readonly rss: number; readonly heapTotal: number; readonly external: number };
  readonly lookMs?: number;
}): () => void;

/** How much of what lies beside the heap is V8's pool. */
export class PoolEstimate {
  /** Whether the pool is to be emptied, with so many bytes beside the heap. */
  isLarge(beside: number): boolean;
  /** So much is left after a collection that was to empty it. */
  collected(beside: number): void;
}
