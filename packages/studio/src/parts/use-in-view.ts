/** Keeps what the keys have chosen in view. */
import { useEffect } from 'react';

/** `chosen` names the entry; `selector` finds it on the page. Null: nothing is chosen. */
export function useInView(chosen: string | null, selector: string): void {
  useEffect(() => {
    if (chosen !== null) document.querySelector(selector)?.scrollIntoView({ block: 'nearest' });
  }, [chosen, selector]);
}
