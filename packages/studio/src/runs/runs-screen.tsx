/** The runs of the tenant, newest first, as they are now. */
import { useInbox } from '@cairn/client/react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { host } from '../app/host.ts';
import { useScope } from '../app/session.ts';
import { Command } from '../parts/copied.tsx';
import { DocsLink } from '../parts/docs-link.tsx';
import { Placeholders } from '../parts/placeholders.tsx';
import { Problem } from '../parts/problem.tsx';
import { useKeys } from '../shell/keys.tsx';
import { BulkCancel } from './bulk-cancel.tsx';
import { filterOf, isFolded, type RunSearch, wordsOf } from './filter.ts';
import { FilterBox } from './filter-box.tsx';
import { RunList } from './run-list.tsx';
import { RunHead } from './run-row.tsx';
import './runs.css';
import { useOpenRuns } from './use-open-runs.ts';
import { useRunPages } from './use-run-pages.ts';
import { type Selection, useSelection } from './use-selection.ts';

export function RunsScreen() {
  const search = useSearch({ from: '/shell/runs' });
  const unfolding = useOpenRuns();
  const { list, error, hasNewer, see, reload } = useRunPages(filterOf(search), unfolding.change);
  const { entries } = useInbox(host);
  const selection = useSelection();
  const box = useRef<HTMLInputElement>(null);
  useKeys([{ key: '/', label: 'Filter the runs', run: () => box.current?.focus(), inPalette: true }]);
  return (
    <div className="runs">
      <h1 className="only-read">Runs</h1>
      <div className="tool-bar">
        <FilterBox search={search} box={box} />
        <SelectionBar selection={selection} onDone={reload} />
      </div>
      {hasNewer && (
        <button type="button" className="button newer" data-kind="main" onClick={reload}>
          Show newer runs
        </button>
      )}
      {error !== null && list === null && (
        <div className="state">
          <Problem error={error} onRetry={reload} />
        </div>
      )}
      {list === null && error === null && <Loading />}
      {list !== null && list.count === 0 && <Nothing search={search} />}
      {list !== null && list.count > 0 && (
        <RunList
          list={list}
          entries={entries ?? []}
          selection={selection}
          unfolding={unfolding}
          isFolded={isFolded(search)}
          onSee={see}
        />
      )}
    </div>
  );
}

function SelectionBar({ selection, onDone }: { readonly selection: Selection; readonly onDone: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const mayCancel = useScope('runs:cancel');
  const { runs, clear } = selection;
  const navigate = useNavigate();
  const [one, other, ...more] = runs;
  const two = one !== undefined && other !== undefined && more.length === 0 ? { a: one.runId, b: other.runId } : null;
  useKeys([
    ...(two === null
      ? []
      : [{ key: 'c', label: 'Compare the two runs', run: () => void navigate({ to: '/compare/$a/$b', params: two }) }]),
    ...(runs.length > 0 && mayCancel
      ? [{ label: 'Cancel the selected runs', run: () => setAsking(true), inPalette: true }]
      : []),
    ...(runs.length > 0 ? [{ key: 'Escape', label: 'Select none', run: clear }] : []),
  ]);
  if (runs.length === 0) return null;
  return (
    <div className="selection" role="status">
      <span className="figure">{runs.length} selected</span>
      {two !== null && (
        <Link to="/compare/$a/$b" params={two} className="button" title="Compare (c)">
          Compare
        </Link>
      )}
      {mayCancel && (
        <button type="button" className="button" data-kind="danger" onClick={() => setAsking(true)}>
          Cancel
        </button>
      )}
      <button type="button" className="button" data-kind="plain" onClick={clear}>
        Clear
      </button>
      {isAsking && (
        <BulkCancel
          runs={runs}
          onClose={() => setAsking(false)}
          onDone={() => {
            setAsking(false);
            clear();
            onDone();
          }}
        />
      )}
    </div>
  );
}

/** Rows of bones, as many as a screen shows, in the places of what comes. */
const Loading = () => (
  <div className="run-list" aria-busy="true" role="status">
    <span className="only-read">Loading the runs</span>
    <RunHead />
    <Placeholders count={20}>
      <div className="run-row still" aria-hidden="true">
        <span className="pick" />
        <span className="status-cell">
          <span className="bone" />
        </span>
        <span className="title">
          <span className="unfold" />
          <span className="bone" />
        </span>
        <span className="agents">
          <span className="bone" />
        </span>
        <span className="waiting-on" />
        <span className="tokens" />
        <span className="cost" />
        <span className="age">
          <span className="bone" />
        </span>
      </div>
    </Placeholders>
  </div>
);

function Nothing({ search }: { readonly search: RunSearch }) {
  const isFiltered = wordsOf(search).length > 0;
  if (isFiltered) {
    return (
      <div className="state">
        <h2>No run matches this filter</h2>
        <p>Runs appear here as soon as they match.</p>
        <Link to="/runs" className="button">
          Show all runs
        </Link>
      </div>
    );
  }
  return (
    <div className="state">
      <h2>No runs yet</h2>
      <p>A run is one piece of work of agents and people, with everything that happened in it. Start three agents:</p>
      <Command text={'npx cairn run research-crew --input topic="tidal power"'} />
      <p>
        Or one that asks you a question, with <code>npx cairn run review</code>. Both work without a model key.
      </p>
      <DocsLink page="start/tour">What one sees in a run</DocsLink>
    </div>
  );
}
