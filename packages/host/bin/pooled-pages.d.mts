/** Has V8 give memory back that it keeps after a peak. Returns how to stop. */
export function releasePooledPages(options?: {
  readonly memoryUsage?: () => { readonly rss: number; readonly heapTotal: number; readonly external: number };
  readonly lookMs?: number;
}): () => void;
