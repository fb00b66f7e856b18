import { expect, test } from 'vitest';
import { countedResponse } from './counted-response.ts';
import { fewLines, LINE_BYTES } from './few-lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('a piece is cut after every 32 lines, and each line costs more than its bytes', () => {
  const piece = bytes(`${'{}\n'.repeat(70)}half`);
  const parts = [...fewLines(piece)];
  expect(parts.map((part) => part.bytes.length)).toEqual([96, 96, 22]);
  expect(parts.map(({ cost }) => cost)).toEqual([96 + 32 * LINE_BYTES, 96 + 32 * LINE_BYTES, 22 + 6 * LINE_BYTES]);
  expect(Buffer.concat(parts.map((part) => part.bytes))).toEqual(Buffer.from(piece));
});

test.for(['\n', '\r', '\r\n'])('a line may end with %j', (end) => {
  const piece = bytes(`{}${end}`.repeat(70));
  const parts = [...fewLines(piece)];
  expect(parts.map((part) => part.bytes.length)).toEqual([32, 32, 6].map((lines) => lines * (2 + end.length)));
  expect(parts.reduce((sum, { cost }) => sum + cost, 0)).toBe(piece.length + 70 * LINE_BYTES);
});

test('a long line is one part', () => {
  const piece = bytes('x'.repeat(100_000));
  expect([...fewLines(piece)]).toEqual([{ bytes: piece, cost: 100_000 }]);
  expect([...fewLines(bytes(''))]).toEqual([]);
});

/** Reads a response of one piece. Counts the turns of the event loop that pass meanwhile. */
async function read(text: string, contentType: string) {
  const given = new Response(bytes(text), { headers: { 'content-type': contentType } });
  let spent = 0;
  const counted = countedResponse(given, {
    spend: (cost) => {
      spent += cost;
    },
    tooManyValues: () => new Error('too many values'),
  });
  let turns = 0;
  let isOver = false;
  const tick = () => {
    turns += 1;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const whole = await counted.text();
  isOver = true;
  return { whole, spent, turns };
}

test('a stream of short events is read in many turns; a document is not', async () => {
  const events = 'data:{}\n\n'.repeat(3_200);
  const stream = await read(events, 'text/event-stream');
  expect(stream).toMatchObject({ whole: events, spent: events.length + 6_400 * LINE_BYTES });
  expect(stream.turns).toBeGreaterThanOrEqual(190);
  const document = await read(events, 'application/json');
  expect(document).toMatchObject({ whole: events, spent: events.length });
  expect(document.turns).toBeLessThan(50);
});
