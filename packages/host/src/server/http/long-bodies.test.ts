import { expect, test } from 'vitest';
import { LongWork } from '../../engine/shares/long-work.ts';
import { manualLoop } from '../../engine/shares/manual-loop.kit.ts';
import { LongBodies } from './long-bodies.ts';

const PARSE_MS = 5;

function bodies() {
  const loop = manualLoop();
  const read: string[] = [];
  const long = new LongBodies(new LongWork(loop), (body) => {
    loop.clock.ms += PARSE_MS;
    read.push(body.toString());
    if (body.toString() === 'broken') throw new Error('not JSON');
    return body.toString();
  });
  return { loop, long, read };
}

test('many large bodies at once are read and handled over many turns, those of another tenant among them', async () => {
  const { loop, long, read } = bodies();
  const handled: string[] = [];
  const send = async (tenant: string) => {
    const { done } = await long.read(tenant, Buffer.from(tenant));
    await long.handle(tenant, done, {
      inspect: () => {
        loop.clock.ms += PARSE_MS;
      },
      handle: async () => {
        loop.clock.ms += PARSE_MS;
        handled.push(tenant);
      },
    });
  };
  const all = Promise.all([...Array.from({ length: 30 }, () => send('many')), send('other')]);
  const turns: number[] = [];
  while (handled.length < 31) {
    turns.push(await loop.turn());
    if (turns.length === 7) expect(handled).toContain('other');
  }
  await all;
  expect(read).toHaveLength(31);
  // A body of each tenant may take a turn past its budget.
  expect(Math.max(...turns)).toBeLessThanOrEqual(3 * PARSE_MS);
});

test('a tenant has a few bodies in memory that are not handled, and a body that cannot be read makes room', async () => {
  const { loop, long, read } = bodies();
  const reading = ['broken', 'a', 'b', 'c', 'd', 'e'].map((body) => long.read('t', Buffer.from(body)));
  await expect(reading[0]).rejects.toThrow('not JSON');
  for (let i = 0; i < 20; i += 1) await loop.turn();
  expect(read).toEqual(['broken', 'a', 'b', 'c', 'd']);
  const first = await reading[1];
  const fails = async () =>
    long.handle('t', first?.done ?? (() => undefined), {
      inspect: () => {
        throw new Error('refused');
      },
      handle: () => Promise.reject(new Error('handled all the same')),
    });
  await expect(fails()).rejects.toThrow('refused');
  for (let i = 0; i < 3; i += 1) await loop.turn();
  expect(read.at(-1)).toBe('e');
  await Promise.all(reading.slice(1));
});
