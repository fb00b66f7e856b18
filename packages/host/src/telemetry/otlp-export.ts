/** Exports by OTLP: spans as they end, metrics at an interval. An unreachable collector never affects runs. */
import type { Report, Timers } from '../engine/ports.ts';
import type { Store } from '../log/ports/store.ts';
import type { Family, Recorder } from './meter.ts';
import { type ExportOptions, openCollector } from './otlp.ts';
import { otlpOrigin } from './otlp-shapes.ts';
import { Outage } from './outage.ts';
import { startProcessFigures } from './process-figures.ts';
import { SpanExport } from './spans/span-export.ts';

export interface ExportPorts {
  readonly store: Pick<Store, 'log' | 'changes' | 'checkpoints'>;
  readonly meter: Recorder;
  readonly collect: () => Promise<readonly Family[]>;
  readonly report: Report;
  readonly timers: Timers;
  readonly now: () => number;
  readonly host: { readonly hostId: string; readonly version: string };
  readonly onOneNode: OnOneNode;
}

/** Runs a part on one node of the cluster at a time. */
export type OnOneNode = (
  name: string,
  start: () => Promise<{ close(): Promise<void> }>,
) => { open(): Promise<void>; close(): Promise<void> };

export interface Exporting {
  /** Age of the oldest event that waits for export, in ms. */
  readonly behindMs: number;
  /** Sends the pending data, within a short time limit. */
  close(): Promise<void>;
}

export async function startExport(otel: ExportOptions, ports: ExportPorts): Promise<Exporting> {
  const { store, meter, report, timers, now } = ports;
  const collector = await openCollector(otel, otlpOrigin(ports.host));
  const { origin: endpoint } = new URL(otel.endpoint);
  let spans: SpanExport | null = null;
  // Spans are those of the log, which all nodes share. Metrics are those of this process.
  const job = ports.onOneNode('otel.spans', async () => {
    const exporting = new SpanExport({
      store,
      sink: collector.sendSpans,
      share: otel.sampling,
      outage: new Outage({ signal: 'spans', endpoint }, report),
      recorder: meter,
      timers,
      now,
    });
    spans = exporting;
    return {
      close: async () => {
        spans = null;
        await exporting.close();
      },
    };
  });
  await job.open();
  const outage = new Outage({ signal: 'metrics', endpoint }, report);
  const ofProcess = startProcessFigures();
  const since = now();
  let isClosed = false;
  let cancel = (): void => undefined;

  const send = async (): Promise<void> => {
    try {
      await collector.sendMetrics([...(await ports.collect()), ...ofProcess.read()], since, now());
      outage.end();
    } catch (error) {
      if (!isClosed) outage.begin(error);
    }
  };
  const again = (): void => {
    cancel = timers.after(otel.metricsEveryMs, () => void send().then(() => (isClosed ? undefined : again())));
  };
  again();

  return {
    get behindMs() {
      return spans?.behindMs ?? 0;
    },
    async close() {
      cancel();
      const last = outage.isOn ? Promise.resolve() : within(LAST_METRICS_MS, send(), timers);
      await Promise.all([job.close(), last]);
      isClosed = true;
      ofProcess.stop();
      // Its requests have their own timeout, and nothing waits for them any more.
      void collector.close();
    },
  };
}

/** Time limit for the last metrics when the host stops. */
const LAST_METRICS_MS = 2_000;

/** Waits for work, up to a time limit. */
function within(ms: number, work: Promise<void>, timers: Timers): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timers.after(ms, resolve);
    void work.then(() => {
      cancel();
      resolve();
    });
  });
}
