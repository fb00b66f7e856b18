/** Task events from the browser's own `EventSource`, which has no listener for all kinds. */
import { taskEventKinds } from '@cairn/protocol';
import { type ContextEvent, itemOf } from './follow-context.ts';

/** Frames of internal kinds are named without their prefix. */
const names = [...taskEventKinds.map((kind) => kind.replace('internal:', '')), 'stream:caught-up', 'stream:reset'];

/**
 * Passes on what the stream of a context sends. Returns a function that stops it. The browser reconnects with its last id;
 * after `stream:reset`, open a new `EventSource` to read the history again.
 */
export function listenToEventSource(
  source: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>,
  take: (event: ContextEvent) => void,
): () => void {
  const listen = (message: Event): void => {
    if (!(message instanceof MessageEvent)) return;
    const item = itemOf({ event: message.type, data: String(message.data) });
    if (item.kind !== 'stream:ready' && item.kind !== 'stream:closing' && item.kind !== 'stream:unknown') take(item);
  };
  // An `error` without data is the browser's own; it is no message.
  for (const name of names) source.addEventListener(name, listen);
  return () => {
    for (const name of names) source.removeEventListener(name, listen);
  };
}
