/** Converts spans and metrics to the types that OpenTelemetry's exporters accept. */
import type { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { Family, Point } from './meter.ts';
import { NOTE_NAME, type RunSpan } from './spans/span-model.ts';

type ReadableSpan = Parameters<OTLPTraceExporter['export']>[0][number];
type ResourceMetrics = Parameters<OTLPMetricExporter['export']>[0];
type MetricData = ResourceMetrics['scopeMetrics'][number]['metrics'][number];
type HrTime = ReadableSpan['startTime'];

/** The resource and scope of all exported data. The exporter groups by object identity, so there is only one. */
export interface OtlpOrigin {
  readonly resource: ReadableSpan['resource'];
  readonly scope: ReadableSpan['instrumentationScope'];
}

export function otlpOrigin(host: { readonly hostId: string; readonly version: string }): OtlpOrigin {
  const attributes = {
    'service.name': 'cairn',
    'service.instance.id': host.hostId,
    'service.version': host.version,
  };
  const resource: OtlpOrigin['resource'] = {
    attributes,
    getRawAttributes: () => Object.entries(attributes),
    merge: () => resource,
  };
  return { resource, scope: { name: 'cairn', version: host.version } };
}

const kinds = { internal: 0, server: 1, client: 2 } as const satisfies Record<RunSpan['kind'], number>;
const codes = { unset: 0, ok: 1, error: 2 } as const satisfies Record<RunSpan['status']['code'], number>;

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];

export const readableSpan =
  ({ resource, scope }: OtlpOrigin) =>
  (span: RunSpan): ReadableSpan => {
    const { traceId, spanId, parentSpanId, startedAt, notes, status } = span;
    const endedAt = span.endedAt ?? startedAt;
    const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: 1 });
    return {
      name: span.name,
      kind: kinds[span.kind],
      spanContext: () => contextOf(spanId),
      ...(parentSpanId === null ? {} : { parentSpanContext: contextOf(parentSpanId) }),
      startTime: hrTime(startedAt),
      endTime: hrTime(endedAt),
      duration: hrTime(endedAt - startedAt),
      ended: true,
      status: { code: codes[status.code], ...(status.message === undefined ? {} : { message: status.message }) },
      attributes: { ...span.attributes },
      links: span.link === null ? [] : [{ context: { ...span.link, traceFlags: 1 } }],
      events: notes.map(({ at, attributes }) => ({ name: NOTE_NAME, time: hrTime(at), attributes: { ...attributes } })),
      resource,
      instrumentationScope: scope,
      droppedAttributesCount: 0,
      droppedEventsCount: span.droppedNotes,
      droppedLinksCount: 0,
    };
  };

const CUMULATIVE = 1;
const HISTOGRAM = 0;
const GAUGE = 2;
const SUM = 3;
const DOUBLE = 1;

/** Cumulative since the process started, as in Prometheus. */
export function metricData(
  { resource, scope }: OtlpOrigin,
  families: readonly Family[],
  since: number,
  now: number,
): ResourceMetrics {
  const times = { startTime: hrTime(since), endTime: hrTime(now) };
  const metrics = families.map(({ instrument, points }): MetricData => {
    const { name, description, unit, kind, bounds = [] } = instrument;
    const common = { descriptor: { name, description, unit, valueType: DOUBLE }, aggregationTemporality: CUMULATIVE };
    const at = <Value>({ attributes }: Point, value: Value) => ({ ...times, attributes: { ...attributes }, value });
    if (kind === 'histogram') {
      const dataPoints = points.map((point) => at(point, histogramOf(point.value, bounds)));
      return { ...common, dataPointType: HISTOGRAM, dataPoints };
    }
    const dataPoints = points.map((point) => at(point, numberOf(point.value)));
    if (kind === 'gauge') return { ...common, dataPointType: GAUGE, dataPoints };
    return { ...common, dataPointType: SUM, isMonotonic: true, dataPoints };
  });
  return { resource, scopeMetrics: [{ scope, metrics }] };
}

const numberOf = (value: Point['value']): number => (typeof value === 'number' ? value : value.sum);

function histogramOf(value: Point['value'], bounds: readonly number[]) {
  const { count, sum, buckets } = typeof value === 'number' ? { count: 0, sum: value, buckets: [] } : value;
  return { count, sum, buckets: { boundaries: [...bounds], counts: [...buckets] } };
}
