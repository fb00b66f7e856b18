/** Keeps the end of the conversation in view, unless the reader scrolled away from it. */
import { useEffect, useLayoutEffect, useRef } from 'react';

/** Pixels from the end that count as being there. */
const NEAR = 120;

export function useStickyScroll(changed: unknown): void {
  const isAtEnd = useRef(true);

  useEffect(() => {
    const page = document.documentElement;
    const note = () => {
      isAtEnd.current = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR;
    };
    addEventListener('scroll', note, { passive: true });
    return () => removeEventListener('scroll', note);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs whenever the conversation changed.
  useLayoutEffect(() => {
    if (isAtEnd.current) scrollTo(0, document.documentElement.scrollHeight);
  }, [changed]);
}
