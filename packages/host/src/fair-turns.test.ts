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
  expect(fair.take('a', work('three'))).toBeInstanceOf(Promise);
  expect(done).toEqual(['one', 'two']);
});

test('the first piece of an owner in a turn does not wait for the backlog of others', () => {
  const { fair, work, done, next } = turns(2);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void fair.take('a', work(name));
  expect(fair.take('b', work('b1'))).toBe('b1');
  expect(fair.take('b', work('b2'))).toBeInstanceOf(Promise);
  expect(done).toEqual(['a1', 'a2', 'b1']);
  expect(next()).toEqual(['a3', 'b2']);
  expect(fair.take('c', work('c1'))).toBe('c1');
});

test('first pieces of many owners take a turn to twice its budget and no further', () => {
  const { fair, work, next } = turns(3);
  const owners = Array.from({ length: 20 }, (_, n) => `owner${n}`);
  const taken = owners.map((owner) => fair.take(owner, work(owner)));
  expect(taken.filter((one) => typeof one === 'string')).toEqual(owners.slice(0, 6));
  expect(next()).toEqual(owners.slice(6, 9));
});

test('each turn does work up to its budget, and an owner with a backlog delays another by one piece only', () => {
  const { fair, work, next } = turns(2);
  void fair.take('b', work('b0'));
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void fair.take('a', work(name));
  for (const name of ['b1', 'b2']) void fair.take('b', work(name));
  expect(next()).toEqual(['a2', 'b1']);
  expect(next()).toEqual(['a3', 'b2']);
  expect(next()).toEqual(['a4', 'a5']);
  expect(next()).toEqual([]);
});

test('a piece larger than the budget takes a turn of its own', () => {
  const { fair, work, next } = turns(2);
  for (const name of ['a1', 'a2', 'a3']) void fair.take('a', work(name, 10));
  expect(next()).toEqual(['a2']);
  expect(next()).toEqual(['a3']);
});

test('work of an owner does not overtake what waits of it', () => {
  const { fair, work, next } = turns(1);
  for (const name of ['a1', 'a2', 'a3']) void fair.take('a', work(name));
  next();
  expect(fair.take('a', work('a4'))).toBeInstanceOf(Promise);
  expect(next()).toEqual(['a3']);
  expect(next()).toEqual(['a4']);
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
  fair.take('b', work('b0'));
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
  for (const name of ['a1', 'b1']) fair.take(name.charAt(0), work(name));
  const waiting = [fair.take('a', work('a2')), fair.take('b', work('b2'))];
  fair.refuse(new Error('closed'));
  for (const one of waiting) await expect(one).rejects.toThrow('closed');
});
