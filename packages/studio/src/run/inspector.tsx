/** The selected event: what it says, who did it by which right, what caused it and what it led to. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { positionOf, type RunRow } from '../folds/run-row.ts';
import { CopyButton } from '../parts/copied.tsx';
import { shortAgent } from '../parts/figures.ts';
import { Id, Value } from './marks.tsx';
import { OutsideCause } from './outside-cause.tsx';
import type { RunState } from './run-state.ts';
import { clock, pretty } from './words.ts';

export function Inspector({ state }: { readonly state: RunState }) {
  const { selected, history } = state;
  if (selected === null) return null;
  const row = history.rows[positionOf(history.rows, selected)];
  return (
    <aside className="inspector panel" aria-label={`Event ${selected}`}>
      <div className="inspector-head">
        <strong className="cut">{row?.seq === selected ? row.type : `Event ${selected}`}</strong>
        <button
          type="button"
          className="button"
          data-kind="plain"
          onClick={() => state.select(null)}
          aria-label="Close the inspector"
        >
          Close
        </button>
      </div>
      {row?.seq === selected ? <Facts row={row} state={state} /> : <p className="second">{unseen(state, selected)}</p>}
    </aside>
  );
}

/** Why there is nothing to show of the event. */
function unseen({ data, history }: RunState, selected: number): string {
  if (!data.isWhole) return 'The event is still being read.';
  return selected > history.lastSeq
    ? `The run has no such event: its last one is ${history.lastSeq}.`
    : 'This key may not see the event.';
}

function Facts({ row, state }: { readonly row: RunRow; readonly state: RunState }) {
  const { history, upTo, client, runId } = state;
  const { seq } = row;
  const cause = history.causes.causeOf(seq);
  const outside = history.causes.outsideCauseOf(seq);
  const effects = history.causes.effectsOf(seq, upTo);
  const recorded = useQuery({
    queryKey: ['run-event', runId, seq],
    queryFn: ({ signal }) => client.runs.causes(runId, { of: seq, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const hash = recorded.data?.events[0]?.hash;
  const agentId = agentOf(row, state);
  const trace = (row.type === 'provider.usage' ? row.payload.traceId : undefined) ?? recorded.data?.traceId;
  return (
    <div className="inspector-body">
      <dl className="run-facts">
        <Fact name="Event">
          <span className="figure">{seq}</span> <span className="second figure">{clock(row.at)}</span>
        </Fact>
        {row.nodeId === undefined ? null : <Fact name="Node">{row.nodeId}</Fact>}
        {agentId === undefined ? null : (
          <Fact name="Agent">
            <Link to="/agents/$agentId" params={{ agentId }} title={agentId}>
              {shortAgent(agentId)}
            </Link>
          </Fact>
        )}
        {row.type === 'agent.toolCalled' ? <Fact name="Allowed by">{row.payload.rule ?? 'not recorded'}</Fact> : null}
        <Fact name="Cause">
          {cause !== undefined ? (
            <SeqLink seq={cause} state={state} />
          ) : outside === undefined ? (
            'none'
          ) : (
            <OutsideCause state={state} seq={seq} />
          )}
        </Fact>
        <Fact name="Effects">
          {effects.length === 0
            ? 'none'
            : effects.slice(0, 8).map((effect) => <SeqLink key={effect} seq={effect} state={state} />)}
          {effects.length > 8 ? ` and ${effects.length - 8} more` : ''}
        </Fact>
        <Fact name="Trace">{trace === undefined ? <span className="label">…</span> : <Id of={trace} />}</Fact>
        <Fact name="Hash">
          {hash === undefined ? (
            <span className="label">{recorded.isPending ? '…' : 'not shown to this key'}</span>
          ) : (
            <Id of={hash} />
          )}
        </Fact>
      </dl>
      <div className="inspector-tools">
        <span className="label grow">Payload</span>
        <CopyButton text={pretty(row.payload, Number.POSITIVE_INFINITY)} label="Copy JSON" />
        <button type="button" className="button" data-kind="plain" onClick={() => state.go({ at: seq })}>
          Show the run here
        </button>
      </div>
      <Value of={row.payload} />
    </div>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <>
    <dt className="label">{name}</dt>
    <dd>{children}</dd>
  </>
);

function SeqLink({ seq, state }: { readonly seq: number; readonly state: RunState }) {
  const row = state.history.rows[positionOf(state.history.rows, seq)];
  const type = row?.seq === seq ? row.type : undefined;
  return (
    <button type="button" className="seq-link" onClick={() => state.select(seq)}>
      <span className="figure">{seq}</span>
      {type === undefined ? '' : ` ${type}`}
    </button>
  );
}

function agentOf(row: RunRow, { fold }: RunState): string | undefined {
  if ('agentId' in row.payload && typeof row.payload.agentId === 'string') return row.payload.agentId;
  return row.nodeId === undefined ? undefined : fold.nodes.nodes.get(row.nodeId)?.agentId;
}
