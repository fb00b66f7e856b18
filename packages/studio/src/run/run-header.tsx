/** The head of a run: what it is, how it stands, where it comes from, and what can be done with it. */
import { isTerminalStatus, type RunStatus } from '@cairn/protocol';
import { Link } from '@tanstack/react-router';
import { isAgentRun } from '../agents/agent-runs.ts';
import { shortCost, shortCount } from '../parts/figures.ts';
import { Status } from '../parts/status.tsx';
import { useNow } from '../parts/time.tsx';
import { snapshotTitle } from '../runs/run-facts.ts';
import { Id } from './marks.tsx';
import { RunActions } from './run-actions.tsx';
import { RunLink } from './run-link.tsx';
import type { RunState } from './run-state.ts';
import { span } from './words.ts';

interface RunHeaderProps {
  readonly state: RunState;
  fork(): void;
}

export function RunHeader({ state, fork }: RunHeaderProps) {
  const { fold, data, runId } = state;
  const { totals } = fold;
  const status = shownStatus(state);
  const { snapshot } = data;
  const workflowId = totals.workflowId || snapshot?.workflowId || ' ';
  const title = snapshot === null ? null : snapshotTitle(snapshot);
  const isPresent = state.search.at === undefined && data.phase === 'live' && totals.endedAt === null;
  const now = useNow();
  const end = totals.endedAt ?? (isPresent ? Math.max(now, totals.lastAt) : totals.lastAt);
  const took = totals.startedAt === null ? null : span(end - totals.startedAt - totals.restedMs);
  return (
    <header className="run-header">
      <div className="run-title">
        <h1 className="cut" title={title ?? workflowId}>
          {snapshot === null && totals.workflowId === '' ? <span className="bone title-bone" /> : (title ?? workflowId)}
        </h1>
        {status === null ? (
          <span className="bone run-bone" />
        ) : (
          <Status status={status} isStill={state.search.at !== undefined} />
        )}
        {title === null ? null : <span className="second cut run-workflow">{workflowId}</span>}
        <Id of={runId} />
        <Lineage state={state} />
      </div>
      <div className="run-figures">
        <Figure name="Tokens" value={shortCount(totals.inputTokens + totals.outputTokens + totals.childTokens)} />
        <Figure name="Cost" value={shortCost(totals.costUsd + totals.childCostUsd)} />
        <Figure name="Took" value={took ?? '–'} />
        <Budget state={state} />
      </div>
      <RunActions state={state} fork={fork} />
    </header>
  );
}

/** The host knows more than the rows: it also waits for child runs. The past is known by its rows alone. */
function shownStatus({ data, search, fold }: RunState): RunStatus | null {
  if (search.at !== undefined || data.snapshot === null) return fold.seq < 0 ? null : fold.totals.status;
  const { status } = fold.totals;
  return isTerminalStatus(status) || data.history.lastSeq < 0
    ? data.history.lastSeq < 0
      ? data.snapshot.status
      : status
    : data.snapshot.status;
}

const Figure = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <span className="run-figure">
    <span className="label">{name}</span>
    <span className="figure">{value}</span>
  </span>
);

/** How much of the tightest limit is used. */
function Budget({ state }: { readonly state: RunState }) {
  const { budget, ...spent } = state.fold.totals;
  if (budget === null) return null;
  const shares = [
    ['tokens', spent.inputTokens + spent.outputTokens + spent.childTokens, budget.maxTokens],
    ['cost', spent.costUsd + spent.childCostUsd, budget.maxCostUsd],
    ['tool calls', spent.toolCalls + spent.childToolCalls, budget.maxToolCalls],
  ] as const;
  const limited = shares.flatMap(([name, used, most]) =>
    most === undefined || most <= 0 ? [] : [{ name, used, most, share: used / most }],
  );
  const tightest = limited.toSorted((a, b) => b.share - a.share)[0];
  if (tightest === undefined) return null;
  const percent = Math.round(tightest.share * 100);
  const words = `${percent} % of ${shortCount(tightest.most)} ${tightest.name}`;
  return (
    <span className="run-figure budget" title={words}>
      <span className="label">Budget</span>
      <span className="budget-bar" aria-hidden="true" data-high={tightest.share >= 0.8}>
        <span style={{ width: `${Math.min(100, percent)}%` }} />
      </span>
      <span className="figure">{percent} %</span>
      <span className="only-read">{words}</span>
    </span>
  );
}

/** Where the run comes from, and the runs below it. */
function Lineage({ state: { data, runId } }: { readonly state: RunState }) {
  const { snapshot } = data;
  if (snapshot === null) return null;
  const { parentRunId, contextId, fork, childRuns = [], retryOf } = { retryOf: undefined, ...snapshot };
  return (
    <span className="lineage second cut">
      {parentRunId === undefined ? null : (
        <>
          below <RunLink to={parentRunId} />{' '}
        </>
      )}
      {fork === undefined ? null : (
        <>
          {fork.mode === 'replay' ? 'replay of ' : 'forked from '}
          <RunLink to={fork.sourceRunId} /> at {fork.fromSeq}{' '}
        </>
      )}
      {typeof retryOf === 'string' ? (
        <>
          retry of <RunLink to={retryOf} />{' '}
        </>
      ) : null}
      {contextId !== undefined && isAgentRun(snapshot.workflowId) && parentRunId === undefined ? (
        <>
          <Link to="/chat/$contextId" params={{ contextId }}>
            open in chat
          </Link>{' '}
        </>
      ) : null}
      {childRuns.length === 0 ? null : <ChildRuns of={runId} runs={childRuns} />}
    </span>
  );
}

const SHOWN_CHILDREN = 3;

interface ChildRunsProps {
  readonly of: string;
  readonly runs: readonly { readonly runId: string; readonly workflowId: string }[];
}

const ChildRuns = ({ of, runs }: ChildRunsProps) => (
  <>
    <Link to="/runs" search={{ parent: of }}>
      {runs.length === 1 ? '1 child' : `${runs.length} children`}
    </Link>
    {': '}
    {runs.slice(0, SHOWN_CHILDREN).map(({ runId, workflowId }) => (
      <span key={runId}>
        <RunLink to={runId}>{workflowId}</RunLink>{' '}
      </span>
    ))}
    {runs.length > SHOWN_CHILDREN ? '…' : ''}
  </>
);
