/** Stores the measured values: sums and histograms by attributes, with bounded cardinality. */
import type { Instrument } from './instruments.ts';

export type AttributeValue = string | number | boolean;

/** Receives measurements. */
export interface Recorder {
  /** Adds to a counter. */
  add(instrument: Instrument, values: readonly AttributeValue[], amount?: number): void;
  /** Adds a value to its histogram bucket. */
  record(instrument: Instrument, values: readonly AttributeValue[], value: number): void;
}

export interface HistogramValue {
  readonly count: number;
  readonly sum: number;
  /** One more than the bounds: the last bucket holds values above all of them. */
  readonly buckets: readonly number[];
}

export interface Point {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly value: number | HistogramValue;
}

/** An instrument with all its points. */
export interface Family {
  readonly instrument: Instrument;
  readonly points: readonly Point[];
}

/** The OpenTelemetry default. Further attribute sets share one overflow point. */
const MAX_POINTS = 2_000;

interface Series {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  count: number;
  sum: number;
  readonly buckets: number[];
}

/** The points of one instrument, looked up value by value, which avoids building a key each time. */
interface Points {
  readonly root: Branch;
  readonly all: Series[];
  overflow: Series | null;
}

/** A node of the lookup tree: leads to more branches, or to the series of all values. */
interface Branch {
  next: Map<AttributeValue, Branch> | null;
  series: Series | null;
}

const newBranch = (): Branch => ({ next: null, series: null });

export class Meter implements Recorder {
  readonly #instruments = new Map<Instrument, Points>();

  add(instrument: Instrument, values: readonly AttributeValue[], amount = 1): void {
    this.#series(instrument, values).sum += amount;
  }

  record(instrument: Instrument, values: readonly AttributeValue[], value: number): void {
    const series = this.#series(instrument, values);
    const bounds = instrument.bounds ?? [];
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.count += 1;
    series.sum += value;
  }

  /** Returns all measurements so far. */
  read(): readonly Family[] {
    return [...this.#instruments].map(([instrument, { all, overflow }]) => ({
      instrument,
      points: (overflow === null ? all : [...all, overflow]).map(({ attributes, count, sum, buckets }) => ({
        attributes,
        value: instrument.kind === 'histogram' ? { count, sum, buckets: [...buckets] } : sum,
      })),
    }));
  }

  #series(instrument: Instrument, values: readonly AttributeValue[]): Series {
    let points = this.#instruments.get(instrument);
    if (points === undefined) {
      points = { root: newBranch(), all: [], overflow: null };
      this.#instruments.set(instrument, points);
    }
    let branch = points.root;
    for (let i = 0; i < instrument.attributes.length; i += 1) {
      const value = values[i] ?? '';
      let next = branch.next?.get(value);
      if (next === undefined) {
        if (points.all.length >= MAX_POINTS) return overflowOf(points, instrument);
        next = newBranch();
        branch.next ??= new Map();
        branch.next.set(value, next);
      }
      branch = next;
    }
    if (branch.series !== null) return branch.series;
    if (points.all.length >= MAX_POINTS) return overflowOf(points, instrument);
    branch.series = newSeries(instrument, named(instrument, values));
    points.all.push(branch.series);
    return branch.series;
  }
}

function overflowOf(points: Points, instrument: Instrument): Series {
  points.overflow ??= newSeries(instrument, { 'otel.metric.overflow': true });
  return points.overflow;
}

const newSeries = (instrument: Instrument, attributes: Series['attributes']): Series => ({
  attributes,
  count: 0,
  sum: 0,
  buckets: new Array<number>((instrument.bounds?.length ?? -1) + 1).fill(0),
});

const named = (instrument: Instrument, values: readonly AttributeValue[]): Record<string, AttributeValue> =>
  Object.fromEntries(instrument.attributes.map((name, i) => [name, values[i] ?? '']));
