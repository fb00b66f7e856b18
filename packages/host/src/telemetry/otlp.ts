/** Connects to a collector with OpenTelemetry's own exporters, loaded only when configured. */
import { TerminalError } from '@cairn/protocol';
import type { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { thrownCode } from '../thrown-code.ts';
import type { Family } from './meter.ts';
import { metricData, type OtlpOrigin, readableSpan } from './otlp-shapes.ts';
import type { RunSpan } from './spans/span-model.ts';

/** The export target, and how much to export. */
export interface ExportOptions {
  /** The address of the collector, without `/v1/traces`. */
  readonly endpoint: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly headers: Readonly<Record<string, { reveal(): string }>>;
  /** The share of runs whose spans are exported, from 0 to 1. */
  readonly sampling: number;
  readonly metricsEveryMs: number;
}

export interface Collector {
  /** `refused`: the collector will never accept these spans. Rejects when it is unreachable or fails. */
  sendSpans(spans: readonly RunSpan[]): Promise<'taken' | 'refused'>;
  /** Sends sums and histograms accumulated since `since`. */
  sendMetrics(families: readonly Family[], since: number, now: number): Promise<void>;
  close(): Promise<void>;
}

/** Timeout of one request to the collector, including the exporter's own retries. */
const TIMEOUT_MS = 5_000;

/** Statuses that no retry can fix: the request is malformed or too large. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

export async function openCollector(otel: ExportOptions, origin: OtlpOrigin): Promise<Collector> {
  const { OTLPTraceExporter, OTLPMetricExporter } = await loadExporters(otel.protocol);
  const headers = Object.fromEntries(Object.entries(otel.headers).map(([name, value]) => [name, value.reveal()]));
  const base = otel.endpoint.replace(/\/+$/, '');
  const options = { headers, timeoutMillis: TIMEOUT_MS, concurrencyLimit: 1 };
  const traces = new OTLPTraceExporter({ ...options, url: `${base}/v1/traces` });
  const metrics = new OTLPMetricExporter({ ...options, url: `${base}/v1/metrics` });
  const span = readableSpan(origin);
  return {
    async sendSpans(spans) {
      try {
        await sent((done) => traces.export(spans.map(span), done));
        return 'taken';
      } catch (error) {
        if (REFUSALS.has(Number(thrownCode(error)))) return 'refused';
        throw error;
      }
    },
    sendMetrics: (families, since, now) =>
      sent((done) => metrics.export(metricData(origin, families, since, now), done)),
    close: async () => void (await Promise.all([traces.shutdown(), metrics.shutdown()])),
  };
}

type Sent = Parameters<OTLPTraceExporter['export']>[1];

function sent(send: (done: Sent) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    send(({ error, code }) => {
      if (code === 0) resolve();
      else reject(error ?? new Error('the exporter gave no reason'));
    });
  });
}

interface ExporterConfig {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeoutMillis: number;
  readonly concurrencyLimit: number;
}

/** The packages for JSON and for protobuf export the same classes. */
interface TraceModule {
  readonly OTLPTraceExporter: new (config: ExporterConfig) => Pick<OTLPTraceExporter, 'export' | 'shutdown'>;
}

interface MetricModule {
  readonly OTLPMetricExporter: new (config: ExporterConfig) => Pick<OTLPMetricExporter, 'export' | 'shutdown'>;
}

type Exporters = TraceModule & MetricModule;

function loadExporters(protocol: ExportOptions['protocol']): Promise<Exporters> {
  return loaded(() =>
    protocol === 'http/json'
      ? Promise.all([
          import('@opentelemetry/exporter-trace-otlp-http'),
          import('@opentelemetry/exporter-metrics-otlp-http'),
        ])
      : Promise.all([
          import('@opentelemetry/exporter-trace-otlp-proto'),
          import('@opentelemetry/exporter-metrics-otlp-proto'),
        ]),
  );
}

/** Returns the exporters that `load` imports, or fails with a hint when they are not installed. */
export async function loaded(load: () => Promise<readonly [TraceModule, MetricModule]>): Promise<Exporters> {
  try {
    const [{ OTLPTraceExporter }, { OTLPMetricExporter }] = await load();
    return { OTLPTraceExporter, OTLPMetricExporter };
  } catch (error) {
    if (thrownCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new TerminalError('config_invalid', {
      message: 'otel is configured, and the OpenTelemetry exporters are not installed.',
      hint: 'Install @cairn/host with its optional dependencies, or take otel out of the configuration.',
      cause: error,
    });
  }
}
