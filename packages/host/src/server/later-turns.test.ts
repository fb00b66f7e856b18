import { expect, test } from 'vitest';
import { LaterTurns } from './later-turns.ts';

/** A loop whose turns are given by the test, and whose clock only work moves. */
function manualLoop() {
  let turn: (() => void)[] = [];
  const reactions: (() => void)[] = [];
  const clock = { ms: 0 };
  const present = { began: 0 };
  const loop = new LaterTurns({
    elapsedMs: () => clock.ms,
    nextTurn: (go) => void turn.push(go),
    afterReactions: (go) => void reactions.push(go),
    turnMs: () => clock.ms - present.began,
  });
  return {
    clock,
    loop,
    /** Gives one turn, in which requests took so long. Returns the milliseconds that the rest took. */
    turn(requestsMs = 0): number {
      present.began = clock.ms;
      clock.ms += requestsMs;
      const begin = clock.ms;
      const [...due] = turn;
      turn = [];
      for (const go of due) {
        go();
        for (let next = reactions.shift(); next !== undefined; next = reactions.shift()) next();
      }
      return clock.ms - begin;
    },
    get isIdle() {
      return turn.length === 0;
    },
  };
}

test('parts that each work for 5 ms have a turn each, take turns, and none is left out', () => {
  const { clock, loop, turn } = manualLoop();
  const done: string[] = [];
  const work = (part: string, times: number) => {
    if (times === 0) return;
    loop.nextTurn(() => {
      clock.ms += 5;
      done.push(part);
      work(part, times - 1);
    });
  };
  for (const part of ['a', 'b', 'c', 'd']) work(part, 2);
  const lengths = Array.from({ length: 8 }, () => turn());
  expect(lengths).toEqual([5, 5, 5, 5, 5, 5, 5, 5]);
  expect(done.join('')).toBe('abcdabcd');
});

test('what requests have taken of a turn is not left for long work, which goes on all the same', () => {
  const { clock, loop, turn } = manualLoop();
  const work = () => {
    clock.ms += 1;
    loop.nextTurn(work);
  };
  for (let i = 0; i < 10; i += 1) loop.nextTurn(work);
  expect([0, 3, 6, 50].map((requestsMs) => turn(requestsMs))).toEqual([6, 3, 2, 2]);
});

test('work that its own work asks for comes in a later turn', () => {
  const bench = manualLoop();
  let turns = 0;
  const again = () => {
    turns += 1;
    if (turns < 3) bench.loop.nextTurn(again);
  };
  bench.loop.nextTurn(again);
  bench.turn();
  expect(turns).toBe(1);
  bench.turn();
  bench.turn();
  expect([turns, bench.isIdle]).toEqual([3, true]);
});

test('while connections arrive, long work waits, but not for ever', () => {
  const { clock, loop, turn } = manualLoop();
  let worked = 0;
  const work = () => {
    worked += 1;
    loop.nextTurn(work);
  };
  loop.nextTurn(work);
  turn();
  expect(worked).toBe(1);
  for (let i = 0; i < 39; i += 1) {
    loop.arrived();
    clock.ms += 1;
    turn();
  }
  expect(worked).toBe(1);
  loop.arrived();
  clock.ms += 1;
  turn();
  expect(worked).toBe(2);
  turn();
  expect(worked).toBe(3);
});
