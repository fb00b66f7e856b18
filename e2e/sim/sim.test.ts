import { expect, test } from 'vitest';
import { renderBreach } from './render.ts';
import { simulate } from './world.ts';

test('gives the same trace for the same seed, bit for bit', async () => {
  for (const seed of [3, 17, 404]) {
    const lines: [string[], string[]] = [[], []];
    const first = await simulate({ seed, steps: 200, sink: (line) => lines[0].push(line) });
    const second = await simulate({ seed, steps: 200, sink: (line) => lines[1].push(line) });
    expect(lines[1]).toEqual(lines[0]);
    expect(second).toEqual(first);
  }
});

test('gives another trace for another seed', async () => {
  const traces = await Promise.all([1, 2, 3].map((seed) => simulate({ seed, steps: 20 })));
  expect(new Set(traces.map(({ trace }) => trace)).size).toBe(3);
});

test('says how to see a broken promise again', async () => {
  const kept = await simulate({ seed: 1, steps: 10 });
  expect(renderBreach(kept, 10)).toBeNull();
  const breach = { invariant: 'seq is dense', facts: { seq: 4 }, step: 7, last: ['   7  row'] };
  const text = renderBreach({ ...kept, breach }, 10);
  expect(text).toContain('seed 1 broke at step 7: seq is dense');
  expect(text).toContain('   7  row');
  expect(text).toContain('npm run sim -- --seed 1 --steps 10 --trace');
});
