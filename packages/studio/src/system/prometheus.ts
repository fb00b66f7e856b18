/** Reads metrics in the text format of Prometheus, as far as this page shows them. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples by name, in the order of the text. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>;

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)(?: \d+)?$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, Sample[]>();
  for (const one of text.split('\n')) {
    const [, name, labels = '', value = ''] = (one.startsWith('#') ? null : line.exec(one)) ?? [];
    if (name === undefined) continue;
    const samples = metrics.get(name);
    const sample = { labels: labelsIn(labels), value: numberOf(value) };
    if (samples === undefined) metrics.set(name, [sample]);
    else samples.push(sample);
  }
  return metrics;
}

const labelsIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(label)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\\(.)/g, (_, after: string) => (after === 'n' ? '\n' : after)),
    ]),
  );

const numberOf = (text: string): number => (text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text));

/** The value of a metric without labels; null if the host does not report it. */
export const metricValue = (metrics: Metrics, name: string): number | null => metrics.get(name)?.[0]?.value ?? null;

export interface Bucket {
  /** The upper bound, in the unit of the metric. */
  readonly to: number;
  readonly count: number;
}

export interface Histogram {
  readonly buckets: readonly Bucket[];
  readonly count: number;
  readonly sum: number;
}

/** A histogram without labels. Its buckets hold what lies between two bounds, not below one. */
export function histogramOf(metrics: Metrics, name: string): Histogram | null {
  const bounds = metrics.get(`${name}_bucket`);
  const count = metricValue(metrics, `${name}_count`);
  if (bounds === undefined || count === null) return null;
  let below = 0;
  const buckets = bounds.map(({ labels, value }) => {
    const bucket = { to: numberOf(labels.le ?? ''), count: value - below };
    below = value;
    return bucket;
  });
  return { buckets, count, sum: metricValue(metrics, `${name}_sum`) ?? 0 };
}

/** The bound below which this share of the values lies. Null without values. */
export function quantileOf({ buckets, count }: Histogram, share: number): number | null {
  if (count === 0) return null;
  let seen = 0;
  for (const { to, count: here } of buckets) {
    seen += here;
    if (seen >= count * share) return to;
  }
  return null;
}
