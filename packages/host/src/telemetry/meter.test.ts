import { describe, expect, it } from 'vitest';
import type { Instrument } from './instruments.ts';
import { Meter } from './meter.ts';

const base = { unit: '1', description: 'd', attributes: ['a', 'b'] } as const;
const counter: Instrument = { ...base, name: 'c', kind: 'counter' };
const histogram: Instrument = { ...base, name: 'h', kind: 'histogram', bounds: [1, 5] };

describe('a meter', () => {
  it('adds up by attributes, whose values it does not mix up', () => {
    const meter = new Meter();
    meter.add(counter, ['x', 'y']);
    meter.add(counter, ['x', 'y'], 2.5);
    meter.add(counter, ['xy', '']);
    expect(meter.read()).toEqual([
      {
        instrument: counter,
        points: [
          { attributes: { a: 'x', b: 'y' }, value: 3.5 },
          { attributes: { a: 'xy', b: '' }, value: 1 },
        ],
      },
    ]);
  });

  it('puts a value into the first bucket whose bound it does not exceed', () => {
    const meter = new Meter();
    for (const value of [0, 1, 1.1, 5, 6, 700]) meter.record(histogram, ['x', 'y'], value);
    expect(meter.read()[0]?.points[0]?.value).toEqual({ count: 6, sum: 713.1, buckets: [2, 2, 2] });
  });

  it('gives figures that stay as they were', () => {
    const meter = new Meter();
    meter.record(histogram, ['x', 'y'], 1);
    const before = meter.read();
    meter.record(histogram, ['x', 'y'], 1);
    expect(before[0]?.points[0]?.value).toEqual({ count: 1, sum: 1, buckets: [1, 0, 0] });
  });

  it('keeps a bounded number of points: what comes after shares one that says so, and nothing is lost', () => {
    const meter = new Meter();
    for (let i = 0; i < 5_000; i += 1) meter.add(counter, [`tenant-${i}`, '']);
    meter.add(counter, ['tenant-0', '']);
    const points = meter.read()[0]?.points ?? [];
    expect(points).toHaveLength(2_001);
    expect(points.reduce((sum, { value }) => sum + Number(value), 0)).toBe(5_001);
    expect(points.at(-1)).toEqual({ attributes: { 'otel.metric.overflow': true }, value: 3_000 });
    expect(points[0]?.value).toBe(2);
  });

  it('keeps the bound whichever attribute takes all those values', () => {
    const meter = new Meter();
    for (let i = 0; i < 2_500; i += 1) meter.add(counter, ['', `tenant-${i}`]);
    expect(meter.read()[0]?.points).toHaveLength(2_001);
  });
});
