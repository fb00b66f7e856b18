import { expect, test } from 'vitest';
import { type ChaosWish, chaosCampaign } from './chaos.ts';

const seed = Number(process.env.STREAMS_SEED ?? Math.floor(Math.random() * 1_000_000));

const readers: readonly { readonly name: string; readonly reader: ChaosWish['reader']; readonly cuts: number }[] = [
  { name: "the project's client", reader: 'client', cuts: 2_000 },
  { name: 'a bare reader of every event', reader: { query: '?streamMode=debug' }, cuts: 2_000 },
  { name: 'a bare reader of updates', reader: { query: '' }, cuts: 300 },
  { name: 'a bare reader of batches', reader: { query: '?streamMode=debug&bufferMs=1' }, cuts: 200 },
];

test.for(readers)(
  `$name sees each event once and in order, however often it is cut off (seed ${seed}; repeat with STREAMS_SEED=${seed})`,
  { timeout: 120_000 },
  async ({ reader, cuts: wanted }) => {
    const { cuts, connections, seen, expected } = await chaosCampaign({ seed, cuts: wanted, reader });
    expect(cuts).toBe(wanted);
    expect(connections).toBeGreaterThan(wanted);
    expect(seen).toEqual(expected);
  },
);
