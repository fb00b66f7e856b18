import { taskEventKinds } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { type ContextEvent, listenToEventSource } from './index.ts';
import { eventsOf } from './scripted-context.kit.ts';

test('every kind and the notices arrive from an EventSource, until it is stopped', () => {
  const source = new EventTarget();
  const seen: ContextEvent[] = [];
  const stop = listenToEventSource(source, (event) => seen.push(event));
  const events = eventsOf(taskEventKinds.map((kind) => ({ kind })));
  const send = (type: string, data: object) =>
    source.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data) }));
  send('stream:ready', { from: 0, head: 1 });
  for (const event of events) send(event.kind.replace('internal:', ''), event);
  send('stream:caught-up', { cursor: 99 });
  // What a browser says about a broken connection.
  source.dispatchEvent(new Event('error'));
  expect(seen).toEqual([...events, { kind: 'stream:caught-up', cursor: 99 }]);
  stop();
  for (const event of events) send(event.kind, event);
  expect(seen).toHaveLength(events.length + 1);
});
