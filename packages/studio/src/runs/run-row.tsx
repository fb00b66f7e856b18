/** One row of the run list. */
import type { InboxEntry, RunSnapshot } from '@cairn/protocol';
import { Link } from '@tanstack/react-router';
import { memo, useEffect, useRef } from 'react';
import { shortCost, shortCount, shortId } from '../parts/figures.ts';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { agentsOf, oneLine, titleOf, usageOf } from './run-facts.ts';

interface RunRowProps {
  readonly run: RunSnapshot;
  readonly row: number;
  readonly top: number;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly question: InboxEntry | null;
  readonly onSelect: (run: RunSnapshot) => void;
}

export const RunRow = memo(function RunRow({ run, row, top, isCurrent, isSelected, ...rest }: RunRowProps) {
  const { question, onSelect } = rest;
  const { runId, workflowId, startedAt } = run;
  const title = titleOf(run);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // Not out of a field that somebody types in.
    const isFree = document.activeElement === document.body || document.activeElement?.closest('.run-list') !== null;
    if (isCurrent && isFree) link.current?.focus({ preventScroll: true });
  }, [isCurrent]);
  return (
    <li
      className="run-row"
      aria-posinset={row + 1}
      aria-setsize={-1}
      data-selected={isSelected || undefined}
      data-current={isCurrent || undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className="pick">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${title ?? workflowId}`}
          checked={isSelected}
          onChange={() => onSelect(run)}
        />
      </span>
      <span className="status-cell">
        <Status status={run.status} />
      </span>
      <span className="title">
        <Link
          ref={link}
          to="/runs/$runId"
          params={{ runId }}
          tabIndex={isCurrent || row === 0 ? 0 : -1}
          className="cut"
          title={title ?? runId}
        >
          {title ?? workflowId}
        </Link>
        <span className="second cut">
          {title === null ? shortId(runId) : workflowId}
          {(run.tags ?? []).map((tag) => ` #${tag}`).join('')}
        </span>
      </span>
      <Agents run={run} />
      <WaitingOn run={run} question={question} />
      <Figures run={run} />
      <span className="age second">{startedAt !== undefined && <Ago at={startedAt} />}</span>
    </li>
  );
});

function Agents({ run }: { readonly run: RunSnapshot }) {
  const agents = agentsOf(run);
  return (
    <span className="agents second cut" title={agents.join(', ')}>
      {agents.slice(0, 3).join(', ')}
      {agents.length > 3 && ` +${agents.length - 3}`}
    </span>
  );
}

function WaitingOn({ run, question }: { readonly run: RunSnapshot; readonly question: InboxEntry | null }) {
  const { error, summary } = run;
  const words = summary?.waitingOn;
  return (
    <span className="waiting-on second cut">
      {question !== null && (
        <Link to="/inbox" search={{ question: question.interruptId, run: question.runId }} tabIndex={-1}>
          {oneLine(question.title)}
        </Link>
      )}
      {question === null && words !== undefined && <span title={words}>{words}</span>}
      {question === null && error !== undefined && (
        <span className="failure" title={error.message}>
          {error.code}: {oneLine(error.message)}
        </span>
      )}
    </span>
  );
}

function Figures({ run }: { readonly run: RunSnapshot }) {
  const { tokens, usd } = usageOf(run);
  return (
    <>
      <span className="tokens second figure">{tokens === 0 ? '–' : shortCount(tokens)}</span>
      <span className="cost second figure">{shortCost(usd)}</span>
    </>
  );
}

/** A row whose run is not read yet. */
export const BoneRow = ({ row, top }: { readonly row: number; readonly top: number }) => (
  <li className="run-row" aria-posinset={row + 1} aria-setsize={-1} style={{ transform: `translateY(${top}px)` }}>
    <span className="pick" />
    <span className="status-cell">
      <span className="bone" />
    </span>
    <span className="title">
      <span className="bone" />
    </span>
  </li>
);

/** The names of the columns, for the eye: each row says by itself what it holds. */
export const RunHead = () => (
  <div className="run-head label" aria-hidden="true">
    <span />
    <span>Status</span>
    <span>Run</span>
    <span>Agents</span>
    <span>Waiting on</span>
    <span>Tokens</span>
    <span>Cost</span>
    <span>Age</span>
  </div>
);
