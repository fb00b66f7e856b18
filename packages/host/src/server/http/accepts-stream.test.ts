import { expect, test } from 'vitest';
import { acceptsStream } from './accepts-stream.ts';

test.each([
  'text/event-stream',
  'Text/Event-Stream',
  'text/event-stream; charset=utf-8',
  'application/json, text/event-stream',
  'application/json;q=0.9 , text/event-stream ; q=0.1',
])('%s asks for a stream', (accept) => {
  expect(acceptsStream(accept)).toBe(true);
});

test.each([
  undefined,
  '',
  '*/*',
  'text/*',
  'application/json',
  'text/event-stream-of-mine',
  'text/event-stream;q=0',
  'application/json, text/event-stream; Q=0.000',
])('%s does not', (accept) => {
  expect(acceptsStream(accept)).toBe(false);
});
