/** One row of the run list. */
import type { InboxEntry, RunSnapshot } from '@cairn/protocol';
import { Link } from '@tanstack/react-router';
import { type CSSProperties, memo, useEffect, useRef } from 'react';
import { shortCost, shortCount, shortId } from '../parts/figures.ts';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { agentsOf, oneLine, titleOf, usageOf } from './run-facts.ts';

/** Where a row stands: its number, its distance from the top, and how many runs it is below. */
export interface RowPlace {
  readonly row: number;
  readonly top: number;
  readonly depth: number;
}

interface RunRowProps extends RowPlace {
  readonly run: RunSnapshot;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  /** Whether its children are shown below it. */
  readonly isOpen: boolean;
  readonly question: InboxEntry | null;
  readonly onSelect: (run: RunSnapshot) => void;
  /** Null in a list whose rows do not unfold. */
  readonly onToggle: ((runId: string) => void) | null;
}

export const RunRow = memo(function RunRow({ run, row, top, depth, isCurrent, isSelected, ...rest }: RunRowProps) {
  const { question, onSelect, onToggle, isOpen } = rest;
  const { runId, workflowId, startedAt } = run;
  const title = titleOf(run);
  // The runs below a run are often about the same. What each does tells them apart.
  const name = depth > 0 ? workflowId : (title ?? workflowId);
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
      style={placed(top, depth)}
    >
      <span className="pick">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${name}`}
          checked={isSelected}
          onChange={() => onSelect(run)}
        />
      </span>
      <span className="status-cell">
        <Status status={run.status} />
      </span>
      <span className="title">
        {onToggle === null ? <Parent run={run} /> : <Unfold run={run} isOpen={isOpen} onToggle={onToggle} />}
        <Link
          ref={link}
          to="/runs/$runId"
          params={{ runId }}
          tabIndex={isCurrent || row === 0 ? 0 : -1}
          className="cut"
          title={title ?? runId}
        >
          {name}
        </Link>
        <span className="second cut">
          {title === null ? shortId(runId) : name === title ? workflowId : title}
          {run.fork !== undefined &&
            `, ${run.fork.mode === 'replay' ? 'replay' : 'fork'} from event ${run.fork.fromSeq}`}
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

/** `--depth` is a property of ours, which the type does not know. */
export const placed = (top: number, depth: number): CSSProperties =>
  ({ transform: `translateY(${top}px)`, '--depth': depth }) as CSSProperties;

interface UnfoldProps {
  readonly run: RunSnapshot;
  readonly isOpen: boolean;
  readonly onToggle: (runId: string) => void;
}

/** Shows and hides the runs that a run started. A run without any keeps the place, so that titles stand under each other. */
function Unfold({ run: { runId, summary }, isOpen, onToggle }: UnfoldProps) {
  const count = summary?.childCount ?? 0;
  if (count === 0) return <span className="unfold" />;
  const words = childWords(count);
  return (
    <button
      type="button"
      className="unfold"
      tabIndex={-1}
      aria-expanded={isOpen}
      aria-label={words}
      title={`${words} (o)`}
      onClick={() => onToggle(runId)}
    >
      <svg width="8" height="8" viewBox="0 0 8 8" aria-hidden="true">
        <path d="M2 1l4 3-4 3z" fill="currentColor" />
      </svg>
      {count >= MAX_COUNTED ? `${MAX_COUNTED}+` : count}
    </button>
  );
}

/** Where the host stops counting. */
const MAX_COUNTED = 100;

const childWords = (count: number): string =>
  count === 1 ? '1 child run' : `${count >= MAX_COUNTED ? 'More than 99' : count} child runs`;

/** A child in a list that does not fold says whose it is, in the place of the number, so that columns stand still. */
const Parent = ({ run: { parentRunId } }: { readonly run: RunSnapshot }) =>
  parentRunId === undefined ? (
    <span className="unfold" />
  ) : (
    <Link
      to="/runs/$runId"
      params={{ runId: parentRunId }}
      tabIndex={-1}
      className="unfold parent"
      title={`Started by ${parentRunId}`}
      aria-label={`Started by ${parentRunId}`}
    >
      ↳
    </Link>
  );

function Agents({ run }: { readonly run: RunSnapshot }) {
  const agents = agentsOf(run);
  return (
    <span className="agents second cut" title={agents.join(', ')}>
      {agents.length > 3 ? `${agents[0]} +${agents.length - 1}` : agents.join(', ')}
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
export const BoneRow = ({ row, top, depth }: RowPlace) => (
  <li className="run-row" aria-posinset={row + 1} aria-setsize={-1} style={placed(top, depth)}>
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
