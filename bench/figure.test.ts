/** A benchmark that judges wrongly is worse than none: the verdict is tested like any other code. */
import { describe, expect, it } from 'vitest';
import { type Figure, figureLine } from './figure.ts';

const figure = (more: Partial<Figure> = {}): Figure => ({
  name: 'x',
  unit: 'rows/s',
  limitName: 'limit',
  bar: { of: 'ratio', is: '>=', amount: 0.5 },
  samples: [
    { value: 60, limit: 100 },
    { value: 10, limit: 100 },
    { value: 600, limit: 1000 },
  ],
  ...more,
});

describe('a figure', () => {
  it('is judged by the median of the ratios of its rounds', () => {
    expect(figureLine(figure())).toMatchObject({ value: 60, limitValue: 100, ratio: 0.6, pass: true, rounds: 3 });
  });

  it('fails when the judged ratio misses the bar', () => {
    const samples = [{ value: 49, limit: 100 }];
    expect(figureLine(figure({ samples })).pass).toBe(false);
  });

  it('is judged by its value when the bar is of the value, whatever the ratio', () => {
    const bar = { of: 'value', is: '<', amount: 60 } as const;
    expect(figureLine(figure({ bar })).pass).toBe(false);
    expect(figureLine(figure({ bar: { ...bar, is: '<=' } })).pass).toBe(true);
  });

  it('fails when the device flushed less often than was committed, however fast it was', () => {
    const line = figureLine(figure({ durability: { commits: 100, flushes: 99 } }));
    expect(line).toMatchObject({ pass: false, commits: 100, flushes: 99 });
    expect(line.notes).toEqual(['fewer device flushes than commits: not durable']);
    expect(figureLine(figure({ durability: { commits: 100, flushes: 100 } })).pass).toBe(true);
  });

  it('fails when it claims durability and nothing was committed', () => {
    expect(figureLine(figure({ durability: { commits: 0, flushes: 5 } })).pass).toBe(false);
  });

  it('fails when one of its rounds could not be measured', () => {
    const samples = [...figure().samples, { value: Number.NaN, limit: 100 }];
    expect(figureLine(figure({ samples })).pass).toBe(false);
  });

  it('shows the spread of what the bar judges', () => {
    expect(figureLine(figure()).range).toEqual([0.1, 0.6]);
  });
});
