/** Everything that waits for a person, oldest first, with the question that is open beside it. */

import { useInbox } from '@cairn/client/react';
import type { InboxEntry } from '@cairn/protocol';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { host } from '../app/host.ts';
import { Command } from '../parts/copied.tsx';
import { DocsLink } from '../parts/docs-link.tsx';
import { PanelBones } from '../parts/panel-bones.tsx';
import { Placeholders } from '../parts/placeholders.tsx';
import { Problem } from '../parts/problem.tsx';
import { Ago, Left } from '../parts/time.tsx';
import { useInView } from '../parts/use-in-view.ts';
import { oneLine } from '../runs/run-facts.ts';
import { useKeys } from '../shell/keys.tsx';
import './inbox.css';
import { kindWord } from './question-kinds.ts';
import { QuestionPanel } from './question-panel.tsx';

export function InboxScreen() {
  const { entries, isComplete, connection, error } = useInbox(host);
  const { question, run } = useSearch({ from: '/shell/inbox' });
  const known = entries ?? [];
  const isChosen = question !== undefined;
  const opened = useOpened(known[0], isChosen);
  const place = isChosen ? `${run} ${question}` : opened;
  // Never another question than the one that was opened: a second click would answer what nobody has read.
  const shown = known.find((entry) => placeOf(entry) === place);
  useMoves(known, shown);
  useInView(shown === undefined ? null : placeOf(shown), '.entry[aria-current]');
  if (connection === 'closed' && error !== null) {
    return (
      <div className="state">
        <Problem error={error} />
      </div>
    );
  }
  if (entries === null) return <Loading />;
  const [oldest] = entries;
  if (oldest === undefined) return <Nothing />;
  return (
    <div className="inbox" data-open={isChosen || undefined}>
      <nav className="entries" aria-label="Open questions">
        <h1 className="label">
          {isComplete
            ? `${entries.length} open ${entries.length === 1 ? 'question' : 'questions'}, oldest first`
            : `The ${entries.length} oldest open questions`}
        </h1>
        <ul>
          {entries.map((entry) => (
            <li key={placeOf(entry)}>
              <Entry entry={entry} isOpen={entry === shown} />
            </li>
          ))}
        </ul>
        {!isComplete && <p className="second more">These are the oldest. More appear as they are answered.</p>}
      </nav>
      <div className="opened">
        <Link to="/inbox" className="button back">
          ‹ All questions
        </Link>
        {shown === undefined ? <Gone next={oldest} /> : <QuestionPanel key={placeOf(shown)} entry={shown} />}
      </div>
    </div>
  );
}

const placeOf = ({ runId, interruptId }: InboxEntry): string => `${runId} ${interruptId}`;

/** Where there is room for both, the oldest question is open. It stays so until somebody chooses another one. */
function useOpened(oldest: InboxEntry | undefined, isChosen: boolean): string | null {
  const [opened, setOpened] = useState<string | null>(null);
  if (isChosen || oldest === undefined) {
    if (opened !== null) setOpened(null);
    return null;
  }
  if (opened === null) setOpened(placeOf(oldest));
  return opened ?? placeOf(oldest);
}

/** Instead of a question that was answered, here or by somebody else. */
const Gone = ({ next }: { readonly next: InboxEntry }) => (
  <div className="state" role="status">
    <h2>This question is not open any more</h2>
    <p>It was answered, has expired, or its run has ended.</p>
    <Link to="/inbox" search={addressOf(next)} className="button" replace>
      Open the oldest question
    </Link>
  </div>
);

function useMoves(entries: readonly InboxEntry[], shown: InboxEntry | undefined): void {
  const navigate = useNavigate();
  const move = (step: number) => {
    const at = shown === undefined ? -1 : entries.indexOf(shown);
    const next = entries[Math.min(Math.max(at + step, 0), entries.length - 1)];
    if (next !== undefined) void navigate({ to: '/inbox', search: addressOf(next), replace: true });
  };
  useKeys([
    { key: 'j', label: 'Next question', run: () => move(1) },
    { key: 'k', label: 'Previous question', run: () => move(-1) },
    {
      key: 'Enter',
      label: 'Open the run of the question',
      run: () => shown !== undefined && void navigate({ to: '/runs/$runId', params: { runId: shown.runId } }),
    },
  ]);
}

const addressOf = ({ runId, interruptId }: InboxEntry) => ({ question: interruptId, run: runId });

const Entry = ({ entry, isOpen }: { readonly entry: InboxEntry; readonly isOpen: boolean }) => (
  <Link to="/inbox" search={addressOf(entry)} className="entry" aria-current={isOpen || undefined}>
    <span className="cut name">{oneLine(entry.title)}</span>
    <span className="second">
      <Ago at={entry.requestedAt} />
    </span>
    <span className="second cut">
      {entry.path.map((step) => ('hostId' in step ? step.hostId : step.workflowId)).join(' › ')}
    </span>
    <span className="badge" data-tone="waiting">
      {entry.expiresAt === undefined ? kindWord(entry) : <Left until={entry.expiresAt} />}
    </span>
  </Link>
);

const Loading = () => (
  <div className="inbox" aria-busy="true" role="status">
    <span className="only-read">Loading the questions</span>
    <div className="entries">
      <h1 className="label">Open questions</h1>
      <Placeholders count={8}>
        <div className="entry" aria-hidden="true">
          <span className="bone" />
          <span />
          <span className="bone" />
        </div>
      </Placeholders>
    </div>
    <div className="opened">
      <PanelBones />
    </div>
  </div>
);

const Nothing = () => (
  <div className="state">
    <h2>Nothing waits for you</h2>
    <p>When a run needs an approval, an answer or a sign-in, its question appears here, from any depth. Try one:</p>
    <Command text="npx cairn run review" />
    <DocsLink page="guides/human-in-the-loop">How a run asks people</DocsLink>
  </div>
);
