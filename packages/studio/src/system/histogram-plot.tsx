/** A histogram of times, as bars, with the figures that matter beside it. */
import { useCallback, useMemo } from 'react';
import uPlot from 'uplot';
import { axis, Plot, type PlotOptions } from '../plots/plot.tsx';
import type { Colours } from '../run/timeline/colours.ts';
import { type Histogram, histogramOf, type Metrics, quantileOf } from './prometheus.ts';

interface HistogramPlotProps {
  readonly title: string;
  readonly about: string;
  readonly metrics: Metrics | null;
  /** The name of the metric, in seconds. */
  readonly name: string;
}

const HEIGHT = 160;
const NARROW = 420;

export function HistogramPlot({ title, about, metrics, name }: HistogramPlotProps) {
  const histogram = useMemo(() => (metrics === null ? null : histogramOf(metrics, name)), [metrics, name]);
  return (
    <section className="panel system-panel" aria-label={title}>
      <header className="system-head">
        <h2>{title}</h2>
        <span className="second figure">{histogram === null || histogram.count === 0 ? '' : wordsOf(histogram)}</span>
      </header>
      <p className="label">{about} Each bar: up to so many milliseconds. The scale grows tenfold.</p>
      {histogram === null || histogram.count === 0 ? (
        <div className="plot-place">
          {metrics !== null && (
            <p className="second">Nothing was measured yet. The next figures come in some seconds.</p>
          )}
        </div>
      ) : (
        <Bars title={title} histogram={histogram} />
      )}
    </section>
  );
}

function Bars({ title, histogram }: { readonly title: string; readonly histogram: Histogram }) {
  const { buckets } = histogram;
  const bounds = buckets.map(({ to }) => to).join();
  const data = useMemo<uPlot.AlignedData>(
    () => [buckets.map((_, at) => at), buckets.map(({ count }) => count)],
    [buckets],
  );
  const options = useCallback((colours: Colours) => optionsOf(colours, bounds.split(',').map(Number)), [bounds]);
  return <Plot label={`${title}: ${wordsOf(histogram)}`} height={HEIGHT} data={data} options={options} />;
}

const builder = uPlot.paths.bars?.({ size: [0.7, 40] });
const bars = builder === undefined ? {} : { paths: builder };

const optionsOf = (colours: Colours, bounds: readonly number[]): PlotOptions => ({
  legend: { show: false },
  cursor: { show: false },
  scales: {
    x: { time: false, range: [-0.6, bounds.length - 0.4] },
    y: { distr: 3, log: 10, range: (_, _min, max) => [0.5, Math.max(10, max * 1.5)] },
  },
  axes: [
    axis(colours, {
      splits: bounds.map((_, at) => at),
      // On a narrow screen every second bar has its bound.
      values: ({ width }, splits) =>
        splits.map((at) => (width < NARROW && at % 2 === 1 ? '' : boundText(bounds[at], bounds[at - 1]))),
      grid: { show: false },
      space: 20,
      size: 28,
    }),
    axis(colours, {
      size: 48,
      splits: (_, _at, _min, max) => powersUpTo(max),
      // The plot leaves out a power that stands too close to the next, as null.
      values: (_, splits) => splits.map((value: number | null) => (value === null ? '' : shortNumber(value))),
    }),
  ],
  series: [
    {},
    {
      fill: colours.accent,
      stroke: colours.accent,
      width: 0,
      points: { show: false },
      ...bars,
    },
  ],
});

/** Powers of ten alone, so that the axis stays readable. */
const powersUpTo = (max: number): number[] =>
  Array.from({ length: Math.floor(Math.log10(Math.max(1, max))) + 1 }, (_, power) => 10 ** power);

const shortNumber = (value: number): string => (value >= 1_000 ? `${value / 1_000}k` : String(value));

/** The upper bound of a bar in milliseconds; the last bar holds everything above the bound before it. */
const boundText = (bound = 0, before = 0): string =>
  Number.isFinite(bound) ? shortNumber(Number((bound * 1_000).toFixed(2))) : `>${shortNumber(before * 1_000)}`;

const timeText = (seconds: number): string =>
  seconds < 1 ? `${Number((seconds * 1_000).toFixed(2))} ms` : `${seconds} s`;

function wordsOf(histogram: Histogram): string {
  const shares = [
    ['half', 0.5],
    ['99 %', 0.99],
  ] as const;
  return shares
    .map(([word, share]) => {
      const bound = quantileOf(histogram, share);
      if (bound === null) return '';
      return Number.isFinite(bound) ? `${word} within ${timeText(bound)}` : `${word} beyond the last bar`;
    })
    .join(', ');
}
