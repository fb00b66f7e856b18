/** The latest conversations: contexts of runs that began with a message to an agent. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { host } from '../app/host.ts';
import { Placeholders } from '../parts/placeholders.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { type ConversationEntry, conversationsOf } from './conversations.ts';

/** Runs that are looked at. Older conversations are found by their runs. */
const RUNS = 100;
const SHOWN = 40;
const EVERY_MS = 4_000;

export function ConversationList({ open }: { readonly open: string | null }) {
  const runs = useQuery({
    queryKey: ['conversations', open],
    queryFn: ({ signal }) => host.runs.list({ limit: RUNS }, { signal }),
    select: ({ runs: listed }) => conversationsOf(listed),
    placeholderData: (before) => before,
    refetchInterval: EVERY_MS,
  });
  return (
    <nav className="chat-list" aria-label="Conversations">
      <div className="chat-list-head">
        <h2 className="label">Conversations</h2>
        <Link to="/chat" className="button">
          New
        </Link>
      </div>
      {runs.isError && <Problem error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.isPending && <Bones />}
      {runs.data?.length === 0 && <p className="second chat-none">None yet. Your first message begins one.</p>}
      <ul>
        {runs.data?.slice(0, SHOWN).map((entry) => (
          <li key={entry.contextId}>
            <Entry entry={entry} isOpen={entry.contextId === open} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Entry({ entry, isOpen }: { readonly entry: ConversationEntry; readonly isOpen: boolean }) {
  const { contextId, title, agent, status, at } = entry;
  return (
    <Link to="/chat/$contextId" params={{ contextId }} className="chat-entry" aria-current={isOpen || undefined}>
      <span className="cut name">{title}</span>
      <span className="second">
        <Ago at={at} />
      </span>
      <span className="second cut">{agent}</span>
      <Status status={status} iconOnly />
    </Link>
  );
}

const Bones = () => (
  <div aria-hidden="true">
    <Placeholders count={6}>
      <div className="chat-entry">
        <span className="bone" />
      </div>
    </Placeholders>
  </div>
);
