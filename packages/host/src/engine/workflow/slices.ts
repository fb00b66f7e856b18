/** Long synchronous work in parts: a generator yields where others may go on, and a slice of the event loop runs many. */
import type { EventLoop } from '../ports.ts';

export type Sliced<Result> = Generator<undefined, Result>;

/** How long work goes on before the event loop gets to timers and sockets. */
const SLICE_MS = 5;

/** Does the work in slices; at once without an event loop. */
export async function inSlices<Result>(work: Sliced<Result>, loop: EventLoop | null): Promise<Result> {
  if (loop === null) return atOnce(work);
  let end = loop.elapsedMs() + SLICE_MS;
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
    if (loop.elapsedMs() < end) continue;
    await new Promise<void>((resolve) => loop.nextTurn(resolve));
    end = loop.elapsedMs() + SLICE_MS;
  }
}

export function atOnce<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
