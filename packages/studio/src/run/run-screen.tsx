/** The screen of a run: its head, five tabs on one selection, the selected event, and the scrubber. */
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useTellBehind } from '../app/connection.ts';
import { host } from '../app/host.ts';
import { Problem } from '../parts/problem.tsx';
import { CausesTab } from './causes-tab.tsx';
import { ConversationTab } from './conversation-tab.tsx';
import { ForkDialog } from './fork-dialog.tsx';
import { Inspector } from './inspector.tsx';
import { LogTab } from './log-tab.tsx';
import { RunHeader } from './run-header.tsx';
import { useRunKeys } from './run-keys.ts';
import { type RunSearch, type RunTab, runTabs } from './run-search.ts';
import { type RunState, useRunState } from './run-state.ts';
import { Scrubber } from './scrubber.tsx';
import { TimelineTab } from './timeline/timeline-tab.tsx';
import './run.css';

const WorkflowTab = lazy(() =>
  import('./workflow/workflow-tab.tsx').then(({ WorkflowTab: loaded }) => ({ default: loaded })),
);

interface RunScreenProps {
  readonly runId: string;
  readonly search: RunSearch;
  go(search: RunSearch): void;
}

const titles: Readonly<Record<RunTab, string>> = {
  conversation: 'Conversation',
  timeline: 'Timeline',
  causes: 'Causes',
  workflow: 'Workflow',
  log: 'Log',
};

export function RunScreen({ runId, search, go }: RunScreenProps) {
  const state = useRunState({ client: host, runId, search, go });
  const [forksFrom, setForksFrom] = useState<number | null>(null);
  const { data, upTo } = state;
  useTellBehind(data.behind);
  const forkHere = (): void => setForksFrom(forkPoint(state));
  useRunKeys(state, forkHere);
  const tab = search.tab ?? 'conversation';
  if (data.phase === 'failed') {
    return (
      <div className="state">
        <h2>This run cannot be shown</h2>
        <Problem error={data.error} onRetry={state.retry} />
        <Link to="/runs">All runs</Link>
      </div>
    );
  }
  return (
    <div className="run" data-inspects={state.selected !== null}>
      <RunHeader state={state} fork={forkHere} />
      <Tabs tab={tab} show={(next) => state.go({ tab: next === 'conversation' ? undefined : next })} />
      <section className="run-tab panel" id="run-tab" role="tabpanel" aria-label={titles[tab]}>
        {data.isWhole ? null : (
          <p className="reading second figure" role="status">
            Reading {data.behind.toLocaleString('en')} earlier events. The last ones are shown.
          </p>
        )}
        {data.phase === 'opening' || upTo < 0 ? <Bones /> : shown(tab, state)}
      </section>
      <Inspector state={state} />
      <Scrubber state={state} forkHere={forkHere} />
      {forksFrom === null ? null : <ForkDialog state={state} fromSeq={forksFrom} close={() => setForksFrom(null)} />}
    </div>
  );
}

/** The branch shares what is shown. A run that has ended is cut at the selected event, or at its last one. */
function forkPoint({ search, selected, history, upTo, data }: RunState): number {
  if (search.at !== undefined) return upTo + 1;
  if (selected !== null) return selected;
  return data.phase === 'ended' ? history.lastSeq : history.lastSeq + 1;
}

function shown(tab: RunTab, state: RunState): ReactNode {
  switch (tab) {
    case 'conversation':
      return <ConversationTab state={state} />;
    case 'timeline':
      return <TimelineTab state={state} />;
    case 'causes':
      return <CausesTab state={state} />;
    case 'workflow':
      return (
        <Suspense fallback={<Bones />}>
          <WorkflowTab state={state} />
        </Suspense>
      );
    case 'log':
      return <LogTab state={state} />;
  }
}

function Tabs({ tab, show }: { readonly tab: RunTab; show(tab: RunTab): void }) {
  return (
    <div className="run-tabs" role="tablist" aria-label="Views of the run">
      {runTabs.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === tab}
          aria-controls="run-tab"
          tabIndex={name === tab ? 0 : -1}
          onClick={() => show(name)}
          onKeyDown={(event) => {
            const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
            const next = runTabs[(runTabs.indexOf(name) + by + runTabs.length) % runTabs.length];
            if (by === 0 || next === undefined) return;
            show(next);
            const buttons = event.currentTarget.parentElement?.children;
            const other = buttons?.[runTabs.indexOf(next)];
            if (other instanceof HTMLElement) other.focus();
          }}
        >
          {titles[name]}
        </button>
      ))}
    </div>
  );
}

const Bones = () => (
  <div className="bones" aria-hidden="true">
    {[62, 84, 48, 70].map((width) => (
      <span key={width} className="bone" style={{ width: `${width}%` }} />
    ))}
  </div>
);
