/** How far this page is behind the host, told by the screen that follows a run. */
import { useEffect, useSyncExternalStore } from 'react';

let behind = 0;
const listeners = new Set<() => void>();

function tell(events: number): void {
  if (events === behind) return;
  behind = events;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useBehind = (): number => useSyncExternalStore(subscribe, () => behind);

/** A screen that follows events tells how many it has not shown yet. */
export function useTellBehind(events: number): void {
  useEffect(() => {
    tell(events);
    return () => tell(0);
  }, [events]);
}
