/** Metrics in the Prometheus format: the host's own families and the default ones of a Node process. */
import type { Metric, Registry } from 'prom-client';
import type { Instrument } from './instruments.ts';
import type { Family, Point } from './meter.ts';

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** Returns the text of one scrape. Process metrics start with the first scrape, so without one they cost nothing. */
export function prometheusText(collect: () => Promise<readonly Family[]>): () => Promise<Exposition> {
  let process: Promise<Registry> | null = null;
  return async () => {
    process ??= processRegistry();
    const [{ Registry }, families, ofProcess] = await Promise.all([import('prom-client'), collect(), process]);
    const registry = new Registry();
    for (const family of families) {
      // The registry reads only the name and the values of a metric.
      registry.registerMetric(metricOf(family) as Metric);
    }
    const texts = await Promise.all([registry.metrics(), ofProcess.metrics()]);
    return { contentType: registry.contentType, text: texts.join('\n') };
  };
}

async function processRegistry(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

interface PrometheusValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

function metricOf({ instrument, points }: Family): { get(): Promise<unknown> } {
  const name = prometheusName(instrument);
  const values = points.flatMap((point) => valuesOf(name, instrument, point));
  const metric = { name, get: async () => ({ name, help: instrument.description, type: instrument.kind, values }) };
  return metric;
}

/** Follows OpenTelemetry's rules for Prometheus: dots become underscores, and the name includes the unit. */
function prometheusName({ name, unit, kind }: Instrument): string {
  const words: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', USD: '' };
  const plain = name.replaceAll(/[^a-zA-Z0-9_]/g, '_');
  const word = words[unit];
  const withUnit = word === undefined || word === '' ? plain : `${plain}_${word}`;
  return kind === 'counter' ? `${withUnit}_total` : withUnit;
}

function valuesOf(name: string, instrument: Instrument, { attributes, value }: Point): PrometheusValue[] {
  const labels = Object.fromEntries(
    Object.entries(attributes).map(([key, text]) => [key.replaceAll(/[^a-zA-Z0-9_]/g, '_'), String(text)]),
  );
  if (typeof value === 'number') return [{ metricName: name, labels, value }];
  const bounds = [...(instrument.bounds ?? []), '+Inf'];
  let below = 0;
  const buckets = bounds.map((le, i) => {
    below += value.buckets[i] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: value.sum },
    { metricName: `${name}_count`, labels, value: value.count },
  ];
}
