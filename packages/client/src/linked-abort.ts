/** An abort controller linked to the caller's signal; `release` removes its listener from that signal. */

export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Without it, a long-lived signal would keep every listener. */
  release(): void;
}

export function linkedAbort(parent: AbortSignal | undefined): LinkedAbort {
  const own = new AbortController();
  const relay = () => own.abort(parent?.reason);
  if (parent?.aborted) relay();
  parent?.addEventListener('abort', relay, { once: true });
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    release: () => parent?.removeEventListener('abort', relay),
  };
}
