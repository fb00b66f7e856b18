/** The id of the conversation in the address of the page, so that a reload or a link shows it again. */
import { useSyncExternalStore } from 'react';

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

export function useAddress(): readonly [string | null, (contextId: string | null) => void] {
  const contextId = useSyncExternalStore(subscribe, () => decodeURIComponent(location.hash.slice(1)) || null);
  return [contextId, go];
}

function go(contextId: string | null): void {
  location.hash = encodeURIComponent(contextId ?? '');
}
