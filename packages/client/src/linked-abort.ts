/** An abort of our own that also fires with the caller's, and lets go of the caller's signal when the work is done. */

export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** A signal that lives as long as the program would otherwise keep every listener it was ever given. */
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
