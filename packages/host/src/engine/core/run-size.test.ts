import { row } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { payloadText } from './run-size.ts';

const started = (count: number) => {
  const text = 'x'.repeat(200_000);
  const inputs = Object.fromEntries(Array.from({ length: count }, (_, i) => [`i${i}`, text]));
  return row('node.started', { nodeId: 'n', typeId: 'core.identity', attempt: 0, visit: 0, inputs }, { nodeId: 'n' });
};

test('a payload that names a large value thousands of times is refused, and no text of gigabytes is made', () => {
  expect(() => payloadText(started(10_000))).toThrow(
    expect.objectContaining({
      code: 'event_too_large',
      message: "The node.started event of node n would hold more; an event's payload holds at most 524288 bytes.",
    }),
  );
});

test('a payload within the limit is its JSON', () => {
  expect(JSON.parse(payloadText(started(2)))).toEqual(started(2).payload);
});
