import { expect, test } from 'vitest';
import { LongWork, type Sliced } from './long-work.ts';
import { manualLoop } from './manual-loop.kit.ts';

test('sixty large definitions at once take turns: none is long, and all are done', async () => {
  const loop = manualLoop();
  const work = new LongWork(loop);
  function* large(): Sliced<string> {
    for (let part = 0; part < 10; part += 1) {
      loop.clock.ms += 1;
      yield undefined;
    }
    return 'done';
  }
  const all = Promise.all(Array.from({ length: 60 }, () => work.inSlices('t', large())));
  const turns: number[] = [];
  while (loop.clock.ms < 600) turns.push(await loop.turn());
  await loop.turn();
  expect((await all).every((result) => result === 'done')).toBe(true);
  expect(Math.max(...turns)).toBeLessThanOrEqual(10);
});

test('the first piece of a tenant does not wait for the backlog of another one', async () => {
  const loop = manualLoop();
  const work = new LongWork(loop);
  const done: string[] = [];
  const piece = (tenant: string) =>
    work.take(tenant, () => {
      loop.clock.ms += 6;
      done.push(tenant);
    });
  const all = Promise.all([...Array.from({ length: 20 }, () => piece('many')), piece('one')]);
  await loop.turn();
  await loop.turn();
  expect(done.slice(0, 2)).toEqual(['many', 'one']);
  for (let i = 0; i < 20; i += 1) await loop.turn();
  await all;
  expect(done).toHaveLength(21);
});

test('work that throws is charged too, and rejects its caller alone', async () => {
  const loop = manualLoop();
  const work = new LongWork(loop);
  const fail = () => {
    loop.clock.ms += 6;
    throw new Error('no');
  };
  expect(() => work.take('t', fail)).toThrow('no');
  const later = work.take('t', () => 'yes');
  expect(later).toBeInstanceOf(Promise);
  await loop.turn();
  expect(await later).toBe('yes');
});

test('without an event loop, everything is done at once', () => {
  expect(new LongWork(null).take('t', () => 7)).toBe(7);
});
