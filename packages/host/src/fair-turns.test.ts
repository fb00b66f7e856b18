import { expect, test } from 'vitest';
import { FairTurns } from './fair-turns.ts';

/** Turns of the event loop that the test begins by hand. */
function turns(budget: number) {
  const coming: (() => void)[] = [];
  const done: string[] = [];
  const fair = new FairTurns({ budget, nextTurn: (begin) => void coming.push(begin) });
  const work =
    (name: string, cost = 1) =>
    () => {
      done.push(name);
      fair.charge(cost);
      return name;
    };
  /** Begins the next turn and returns what it did. */
  const next = (): readonly string[] => {
    done.length = 0;
    coming.shift()?.();
    return [...done];
  };
  return { fair, work, done, next, coming };
}

test('work is done at once while the turn has room', () => {
  const { fair, work, done } = turns(2);
  expect([fair.take('a', work('one')), fair.take('b', work('two'))]).toEqual(['one', 'two']);
  expect(fair.take('c', work('three'))).toBeInstanceOf(Promise);
  expect(done).toEqual(['one', 'two']);
});

test('each turn does work up to its budget, and an owner with a backlog delays another by one piece only', () => {
  const { fair, work, next } = turns(2);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void fair.take('a', work(name));
  for (const name of ['b1', 'b2']) void fair.take('b', work(name));
  expect(next()).toEqual(['a3', 'b1']);
  expect(next()).toEqual(['a4', 'b2']);
  expect(next()).toEqual(['a5']);
  expect(next()).toEqual([]);
});

test('a piece larger than the budget takes a turn of its own', () => {
  const { fair, work, next } = turns(2);
  for (const name of ['a1', 'a2', 'a3']) void fair.take('a', work(name, 10));
  expect(next()).toEqual(['a2']);
  expect(next()).toEqual(['a3']);
});

test('work that comes while others wait does not overtake them', () => {
  const { fair, work, next } = turns(1);
  for (const name of ['a1', 'a2']) void fair.take('a', work(name));
  next();
  expect(fair.take('b', work('b1'))).toBeInstanceOf(Promise);
  expect(next()).toEqual(['b1']);
});

test('no turn is asked for while nothing was done', () => {
  const { fair, work, next, coming } = turns(1);
  fair.take('a', work('a1'));
  next();
  expect(coming).toEqual([]);
});

test('a failure reaches the one who asked, and the others go on', async () => {
  const { fair, work, next } = turns(1);
  fair.take('a', work('a1'));
  const failed = fair.take('a', () => {
    throw new Error('no');
  });
  const fine = fair.take('b', work('b1'));
  next();
  await expect(failed).rejects.toThrow('no');
  expect(await fine).toBe('b1');
});

test('all that waits can be refused', async () => {
  const { fair, work } = turns(1);
  fair.take('a', work('a1'));
  const waiting = [fair.take('a', work('a2')), fair.take('b', work('b1'))];
  fair.refuse(new Error('closed'));
  for (const one of waiting) await expect(one).rejects.toThrow('closed');
});
