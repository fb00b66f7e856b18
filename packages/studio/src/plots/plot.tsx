/** A plot that fits its place and follows the theme. What it shows must stand in words or in a table beside it, too. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Colours, useColours } from '../run/timeline/colours.ts';
import './plot.css';

export type PlotOptions = Omit<uPlot.Options, 'width' | 'height'>;

interface PlotProps {
  /** What it shows, for screen readers. */
  readonly label: string;
  readonly height: number;
  readonly data: uPlot.AlignedData;
  /** Everything but the size. Keep the function: another one draws anew. */
  readonly options: (colours: Colours) => PlotOptions;
}

export function Plot({ label, height, data, options }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const colours = useColours();
  useEffect(() => {
    const element = place.current;
    if (element === null || colours === null) return;
    const size = () => ({ width: Math.max(1, element.clientWidth), height });
    const plot = new uPlot({ ...options(colours), ...size() }, data, element);
    const fitted = new ResizeObserver(() => plot.setSize(size()));
    fitted.observe(element);
    return () => {
      fitted.disconnect();
      plot.destroy();
    };
  }, [data, options, height, colours]);
  return <div ref={place} className="plot" role="img" aria-label={label} style={{ height }} />;
}

/** An axis in the look of the page. */
export const axis = ({ ink3, line }: Colours, more: uPlot.Axis = {}): uPlot.Axis => ({
  stroke: ink3,
  font: '11px system-ui',
  grid: { stroke: line, width: 1 },
  ticks: { stroke: line, width: 1, size: 4 },
  gap: 4,
  ...more,
});
