/** Assembles the host's telemetry: the measured store, metrics, readiness, and the export when configured. */
import type { EventLoop, Report, Timers } from '../engine/ports.ts';
import type { Store } from '../log/ports/store.ts';
import type { Route } from '../server/http/routes.ts';
import { EventLoopDelays, type SampleEventLoop } from './event-loop.ts';
import { HttpWatch } from './http-watch.ts';
import { hostInstruments, type Instrument } from './instruments.ts';
import { measuredLog } from './measured-log.ts';
import { type Family, Meter, type Recorder } from './meter.ts';
import { MetricFeed } from './metric-feed.ts';
import type { ExportOptions } from './otlp.ts';
import { type OnOneNode, startExport } from './otlp-export.ts';
import { prometheusText } from './prometheus.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { operatorRoutes } from './routes.ts';
import type { RandomHex } from './trace-context.ts';

/** Figures that a store may report about itself. */
export interface StoreFigures {
  stats(): { readonly commits: number; readonly rows: number };
  walBytes(): number;
  /** The size of the database and its write-ahead log. */
  fileBytes(): number;
}

export interface TelemetryPorts extends EventLoop {
  readonly store: Store & Partial<StoreFigures>;
  readonly report: Report;
  readonly timers: Timers;
  readonly now: () => number;
  readonly sampleEventLoop: SampleEventLoop;
  readonly randomHex: RandomHex;
  readonly host: { readonly hostId: string; readonly version: string };
  readonly onOneNode: OnOneNode;
}

/** Open connections of the HTTP surface, and what each tenant uses of its limits. */
export type OpenConnections = () => {
  readonly streams: number;
  readonly polls: number;
  readonly tenants?: TenantFigures;
};

export interface TenantFigures {
  /** By resource. */
  readonly limits: Readonly<Record<string, number>>;
  readonly used: readonly { readonly tenant: string; readonly used: Readonly<Record<string, number>> }[];
}

export interface Telemetry {
  /** The same store, measured. Writes that bypass it are not seen. */
  readonly store: Store;
  readonly watch: HttpWatch;
  readonly recorder: Recorder;
  readonly readiness: Readiness;
  /** The operator routes; `open` reports the connections of their HTTP surface. */
  routes(open: OpenConnections): readonly Route[];
  close(): Promise<void>;
}

/** Rejects with `config_invalid` when the configured export is not installed. */
export async function startTelemetry(otel: ExportOptions | undefined, ports: TelemetryPorts): Promise<Telemetry> {
  const { report, timers, now, elapsedMs } = ports;
  const meter = new Meter();
  const measured = measuredLog(ports.store.log, meter, { now, elapsedMs });
  const store: Store = { ...ports.store, log: measured.log };
  let connections: OpenConnections = () => ({ streams: 0, polls: 0 });
  let behindMs = (): number => 0;
  const feed = new MetricFeed({ store, recorder: meter, report, nextTurn: ports.nextTurn });
  const eventLoop = new EventLoopDelays(ports.sampleEventLoop);
  const collect = async (): Promise<readonly Family[]> => {
    feed.lookClosely();
    return [...meter.read(), eventLoop.read(), ...(await hostFigures(ports, { connections, behindMs }))];
  };
  if (otel !== undefined) feed.lookClosely();
  const exporting = otel === undefined ? null : await startExport(otel, { ...ports, store, meter, collect });
  if (exporting !== null) behindMs = () => exporting.behindMs;
  const readiness = createReadiness({ checkpoints: store.checkpoints, measured, timers, now });
  return {
    store,
    watch: new HttpWatch(meter, ports.randomHex),
    recorder: meter,
    readiness,
    routes(open) {
      connections = open;
      return operatorRoutes({ readiness, scrape: prometheusText(collect) });
    },
    async close() {
      feed.close();
      eventLoop.close();
      await exporting?.close();
    },
  };
}

interface Figures {
  readonly connections: OpenConnections;
  readonly behindMs: () => number;
}

/** Figures computed on demand, when metrics are collected. */
async function hostFigures(
  { store, now }: TelemetryPorts,
  { connections, behindMs }: Figures,
): Promise<readonly Family[]> {
  const { active, due } = await store.queue.depth(now());
  const { streams, polls, tenants } = connections();
  const stats = store.stats?.();
  // The protocol's label for the sum over all tenants.
  const all = { 'openwop.tenant_id': 'all' };
  return [
    figure(hostInstruments.active, active, all),
    figure(hostInstruments.depth, due, all),
    figure(hostInstruments.streams, streams),
    figure(hostInstruments.polls, polls),
    ...(tenants === undefined ? [] : tenantFamilies(tenants)),
    figure(hostInstruments.spansBehind, behindMs() / 1000),
    ...(stats === undefined ? [] : [figure(hostInstruments.commits, stats.commits)]),
    ...(stats === undefined ? [] : [figure(hostInstruments.rows, stats.rows)]),
    ...(store.walBytes === undefined ? [] : [figure(hostInstruments.wal, store.walBytes())]),
    ...(store.fileBytes === undefined ? [] : [figure(hostInstruments.storeSize, store.fileBytes())]),
  ];
}

const tenantFamilies = ({ limits, used }: TenantFigures): readonly Family[] => [
  {
    instrument: hostInstruments.tenantLimit,
    points: Object.entries(limits).map(([resource, value]) => ({ attributes: { resource }, value })),
  },
  {
    instrument: hostInstruments.tenantUsed,
    points: used.slice(0, MAX_TENANTS).flatMap(({ tenant, used: ofTenant }) =>
      Object.entries(ofTenant).map(([resource, value]) => ({
        attributes: { 'openwop.tenant_id': tenant, resource },
        value,
      })),
    ),
  },
];

/** Bounds the cardinality: tenants come from keys and tokens, and there may be many. */
const MAX_TENANTS = 500;

const figure = (instrument: Instrument, value: number, attributes: Readonly<Record<string, string>> = {}): Family => ({
  instrument,
  points: [{ attributes, value }],
});
