/** How the host is: its store, its event loop, who uses it, what it would purge, and whether its log is whole. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { host } from '../app/host.ts';
import { useScope } from '../app/session.ts';
import { Command } from '../parts/copied.tsx';
import { Problem } from '../parts/problem.tsx';
import { Capabilities } from './capabilities.tsx';
import { ChainCheck } from './chain-check.tsx';
import { Figures } from './figures.tsx';
import { HistogramPlot } from './histogram-plot.tsx';
import { parseMetrics } from './prometheus.ts';
import { Retention } from './retention.tsx';
import '../run/run.css';
import './system.css';
import { Tenants } from './tenants.tsx';

const FIRST_MS = 1_000;
const EVERY_MS = 5_000;

export function SystemScreen() {
  const mayMeasure = useScope('metrics:read');
  const mayCheck = useScope('audit:read');
  const mayPurge = useScope('runs:delete');
  const text = useQuery({
    queryKey: ['metrics'],
    queryFn: ({ signal }) => host.metrics({ signal }),
    enabled: mayMeasure,
    // The first reading starts the measurement, so that the second one has something to show.
    refetchInterval: ({ state }) => (state.dataUpdateCount < 2 ? FIRST_MS : EVERY_MS),
  });
  const metrics = useMemo(() => (text.data === undefined ? null : parseMetrics(text.data)), [text.data]);
  return (
    <div className="system">
      <h1 className="label">This host</h1>
      {text.isError && <Problem error={text.error} onRetry={() => void text.refetch()} />}
      {mayMeasure && (metrics !== null || !text.isError) && (
        <>
          <Figures metrics={metrics} />
          <div className="system-pair">
            <HistogramPlot
              title="Event loop"
              about="How late the event loop was, every 10 ms."
              metrics={metrics}
              name="cairn_eventloop_delay_seconds"
            />
            <HistogramPlot
              title="Flushes"
              about="From asking for an append to its being durable."
              metrics={metrics}
              name="cairn_log_append_duration_seconds"
            />
          </div>
        </>
      )}
      {!mayMeasure && <NotAllowed what="figures of the host" scope="metrics:read" />}
      <Tenants metrics={metrics} />
      {mayPurge ? <Retention /> : <NotAllowed what="retention plan" scope="runs:delete" />}
      {mayCheck ? <ChainCheck /> : <NotAllowed what="chain check" scope="audit:read" />}
      <Capabilities />
    </div>
  );
}

const NotAllowed = ({ what, scope }: { readonly what: string; readonly scope: string }) => (
  <section className="panel system-panel">
    <p className="second">
      The {what} need a key with the scope <code>{scope}</code>. Sign in with such a key, or ask the operator.
    </p>
    <Command text="npx cairn doctor" />
  </section>
);
