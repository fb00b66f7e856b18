import { expect, test } from 'vitest';
import type { ChunkText } from '../../log/feed/sink.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { Batches } from './batches.ts';

function batches(accepts = true) {
  const frames: string[] = [];
  const timers = new ManualTimers();
  const send = ({ text }: ChunkText) => {
    frames.push(text);
    return accepts;
  };
  return { frames, timers, batches: new Batches({ ms: 100, timers, send }) };
}

const calm = (text: string, upTo: number) => ({ text, upTo, urgent: false });

test('the first event starts the time, and all that came in it are one frame', () => {
  const { frames, timers, batches: held } = batches();
  held.add(calm('{"a":1}', 1));
  held.add(calm('{"b":2},{"c":3}', 3));
  expect([frames, timers.size]).toEqual([[], 1]);
  timers.pass(100);
  expect(frames).toEqual(['id: 3\nevent: batch\ndata: [{"a":1},{"b":2},{"c":3}]\n\n']);
  held.add(calm('{"d":4}', 4));
  timers.pass(100);
  expect(frames[1]).toBe('id: 4\nevent: batch\ndata: [{"d":4}]\n\n');
});

test('an urgent event takes what waits with it, and no timer is left', () => {
  const { frames, timers, batches: held } = batches();
  held.add(calm('1', 1));
  held.add({ text: '2', upTo: 2, urgent: true });
  expect([frames, timers.size]).toEqual([['id: 2\nevent: batch\ndata: [1,2]\n\n'], 0]);
});

test('does not hold more than its bound, however long the time', () => {
  const { frames, batches: held } = batches();
  const big = JSON.stringify('x'.repeat(100_000));
  for (let seq = 0; seq < 9; seq += 1) held.add(calm(big, seq));
  expect(frames.map((frame) => frame.slice(0, frame.indexOf('\n')))).toEqual(['id: 2', 'id: 5', 'id: 8']);
});

test('says so when a frame it sent at once filled the client', () => {
  const { batches: held } = batches(false);
  expect(held.add(calm('1', 1))).toBe(true);
  expect(held.add({ text: '2', upTo: 2, urgent: true })).toBe(false);
});

test('gives what waits once, and nothing when nothing does', () => {
  const { frames, timers, batches: held } = batches();
  held.add(calm('1', 1));
  expect([held.take(), held.take()]).toEqual([{ text: 'id: 1\nevent: batch\ndata: [1]\n\n' }, null]);
  timers.pass(100);
  expect(frames).toEqual([]);
});
