/** The numbers behind the instruments: sums and histograms by attributes, bounded however many values those take. */
import type { Instrument } from './instruments.ts';

export type AttributeValue = string | number | boolean;

/** Where figures go. */
export interface Recorder {
  /** Counts. */
  add(instrument: Instrument, values: readonly AttributeValue[], amount?: number): void;
  /** Puts a value into its bucket. */
  record(instrument: Instrument, values: readonly AttributeValue[], value: number): void;
}

export interface HistogramValue {
  readonly count: number;
  readonly sum: number;
  /** One more than there are bounds: the last is for what exceeds all. */
  readonly buckets: readonly number[];
}

export interface Point {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly value: number | HistogramValue;
}

/** An instrument and all it has measured. */
export interface Family {
  readonly instrument: Instrument;
  readonly points: readonly Point[];
}

/** As many as OpenTelemetry keeps by default. What comes after shares one point that says so. */
const MAX_POINTS = 2_000;
const OVERFLOW = '\0overflow';

interface Series {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  count: number;
  sum: number;
  readonly buckets: number[];
}

export class Meter implements Recorder {
  readonly #families = new Map<Instrument, Map<string, Series>>();

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

  /** All that was measured so far. */
  read(): readonly Family[] {
    return [...this.#families].map(([instrument, series]) => ({
      instrument,
      points: [...series.values()].map(({ attributes, count, sum, buckets }) => ({
        attributes,
        value: instrument.kind === 'histogram' ? { count, sum, buckets: [...buckets] } : sum,
      })),
    }));
  }

  #series(instrument: Instrument, values: readonly AttributeValue[]): Series {
    let family = this.#families.get(instrument);
    if (family === undefined) {
      family = new Map();
      this.#families.set(instrument, family);
    }
    const key = values.length === 1 ? String(values[0]) : values.join('\0');
    const known = family.get(key);
    if (known !== undefined) return known;
    const isFull = family.size >= MAX_POINTS;
    const overflow = isFull ? family.get(OVERFLOW) : undefined;
    if (overflow !== undefined) return overflow;
    const attributes = isFull ? { 'otel.metric.overflow': true } : named(instrument, values);
    const buckets = new Array<number>((instrument.bounds?.length ?? -1) + 1).fill(0);
    const series: Series = { attributes, count: 0, sum: 0, buckets };
    family.set(isFull ? OVERFLOW : key, series);
    return series;
  }
}

const named = (instrument: Instrument, values: readonly AttributeValue[]): Record<string, AttributeValue> =>
  Object.fromEntries(instrument.attributes.map((name, i) => [name, values[i] ?? '']));
