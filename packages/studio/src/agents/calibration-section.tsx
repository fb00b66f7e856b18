/** How far the confidence that an agent states can be trusted: stated confidence against the verdicts of people. */
import type { AgentCalibration } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import type uPlot from 'uplot';
import { host } from '../app/host.ts';
import { Command } from '../parts/copied.tsx';
import { Problem } from '../parts/problem.tsx';
import { axis, Plot, type PlotOptions } from '../plots/plot.tsx';
import type { Colours } from '../run/timeline/colours.ts';
import { bucketsOf, type Judged } from './calibration.ts';

interface CalibrationProps {
  readonly agentId: string;
  readonly threshold: number | null;
}

export function CalibrationSection({ agentId, threshold }: CalibrationProps) {
  const calibration = useQuery({
    queryKey: ['calibration'],
    queryFn: ({ signal }) => host.calibration({ signal }),
    // A long log is read in several requests.
    refetchInterval: ({ state }) => (state.data?.complete === false ? 500 : false),
    staleTime: 10_000,
  });
  const found = calibration.data?.agents.find((agent) => agent.agentId === agentId);
  return (
    <section aria-labelledby="agent-calibration">
      <h3 id="agent-calibration">Calibration</h3>
      {calibration.isError && <Problem error={calibration.error} onRetry={() => void calibration.refetch()} />}
      {calibration.isPending && <div className="calibration-place bone" aria-hidden="true" />}
      {calibration.data !== undefined && found === undefined && <Nothing />}
      {found !== undefined && <Shown calibration={found} threshold={threshold} />}
    </section>
  );
}

const Nothing = () => (
  <>
    <p className="second">
      The agent has stated no confidence yet. When it decides and says how sure it is, people's verdicts are counted
      here.
    </p>
    <Command text={'npx cairn run support-triage --input ticket="I was charged twice"'} />
  </>
);

function Shown({
  calibration,
  threshold,
}: {
  readonly calibration: AgentCalibration;
  readonly threshold: number | null;
}) {
  const judged = useMemo(() => bucketsOf(calibration), [calibration]);
  const hasVerdicts = judged.some(({ right }) => right !== null);
  const { stated, held, approved, edited, rejected, expired } = calibration;
  return (
    <>
      <p className="second figure">
        {stated} decisions with a stated confidence, {held} went to a person: {approved} approved, {edited} edited,{' '}
        {rejected} rejected{expired > 0 && `, ${expired} without a verdict`}.
      </p>
      {hasVerdicts && <CalibrationPlot judged={judged} threshold={threshold} />}
      <table className="calibration-table">
        <thead>
          <tr>
            <th scope="col">Says it is</th>
            <th scope="col">Decisions</th>
            <th scope="col">Judged</th>
            <th scope="col">Was right</th>
          </tr>
        </thead>
        <tbody>
          {judged.map(({ from, to, stated: count, verdicts, right }) => (
            <tr key={from}>
              <td className="figure">
                {Math.round(from * 100)} to {Math.round(to * 100)} % sure
              </td>
              <td className="figure">{count}</td>
              <td className="figure">{verdicts}</td>
              <td className="figure">{right === null ? '–' : `${Math.round(right * 100)} %`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function CalibrationPlot({
  judged,
  threshold,
}: {
  readonly judged: readonly Judged[];
  readonly threshold: number | null;
}) {
  const data = useMemo<uPlot.AlignedData>(() => {
    const known = judged.filter(({ right }) => right !== null);
    // The ends of the line of an agent that is as often right as it says.
    const xs = [0, ...known.map(({ from, to }) => (from + to) / 2), 1];
    return [xs, xs, [null, ...known.map(({ right }) => right), null]];
  }, [judged]);
  const options = useCallback((colours: Colours) => optionsOf(colours, threshold), [threshold]);
  return (
    <figure>
      <Plot
        label="Stated confidence against the share of verdicts that agreed"
        height={240}
        data={data}
        options={options}
      />
      <figcaption className="label">
        Across: how sure the agent said it was. Up: how often people agreed. On the dashed line, both are the same.
        {threshold !== null && ` The upright line is the threshold, ${Math.round(threshold * 100)}\u00a0%.`}
      </figcaption>
    </figure>
  );
}

const percent = (_: uPlot, splits: number[]): string[] => splits.map((value) => `${Math.round(value * 100)} %`);

const optionsOf = (colours: Colours, threshold: number | null): PlotOptions => ({
  legend: { show: false },
  cursor: { show: false },
  scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1] } },
  axes: [axis(colours, { values: percent, size: 28 }), axis(colours, { values: percent, size: 48 })],
  series: [
    {},
    { stroke: colours.ink3, dash: [4, 4], width: 1, points: { show: false } },
    { stroke: colours.accent, width: 2, spanGaps: true, points: { show: true, size: 8, fill: colours.accent } },
  ],
  hooks: {
    draw: [
      ({ ctx, bbox, valToPos }) => {
        if (threshold === null) return;
        const x = valToPos(threshold, 'x', true);
        ctx.save();
        ctx.strokeStyle = colours.ink3;
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.restore();
      },
    ],
  },
});
