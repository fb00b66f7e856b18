/** A question of a run, with the form of the inbox for its answer. */
import { useInbox } from '@cairn/client/react';
import type { InboxEntry } from '@cairn/protocol';
import { Link } from '@tanstack/react-router';
import { host } from '../app/host.ts';
import type { QuestionItem } from '../folds/conversation/items.ts';
import { Answering } from '../inbox/answering.tsx';
import { useFull } from '../inbox/use-full.ts';
import { Problem } from '../parts/problem.tsx';
import { Folded, StateMark, Value } from './marks.tsx';
import { answerWords } from './words.ts';

interface QuestionCardProps {
  readonly item: QuestionItem;
  readonly runId: string;
  /** The past takes no answers. */
  readonly isPast: boolean;
}

export function QuestionCard({ item, runId, isPast }: QuestionCardProps) {
  const isOpen = item.status === 'open';
  return (
    <div className="card run-question" data-tone={isOpen ? 'waiting' : undefined}>
      <div className="card-head">
        <StateMark
          status={item.status}
          label={isOpen ? (item.isRouted ? 'asks an agent' : 'waits for an answer') : item.status}
        />
        <strong>{titleOf(item)}</strong>
        {item.answeredBy === undefined ? null : <span className="label">by {item.answeredBy}</span>}
      </div>
      {typeof item.data.description === 'string' ? <p className="second">{item.data.description}</p> : null}
      <Folded title={<span className="second">What is asked</span>}>{() => <Value of={item.data} />}</Folded>
      {isOpen && !isPast ? <Answer item={item} runId={runId} /> : null}
      {item.answer === undefined ? null : <p className="second">Answer: {answerWords(item.answer)}</p>}
    </div>
  );
}

function Answer({ item, runId }: { readonly item: QuestionItem; readonly runId: string }) {
  const { entries, isComplete } = useInbox(host);
  const entry = entries?.find(({ interruptId }) => interruptId === item.interruptId);
  if (entry !== undefined) return <OpenAnswer entry={entry} isListed />;
  // The inbox of a busy host has the oldest questions alone.
  return isComplete ? null : <OpenAnswer entry={entryOf(item, runId)} isListed={false} />;
}

/** The question as an entry of the inbox, as far as the run knows it. */
const entryOf = ({ interruptId, nodeId, of, data, resumeSchema }: QuestionItem, runId: string): InboxEntry => ({
  runId,
  interruptId,
  nodeId: nodeId ?? '',
  workflowId: '',
  kind: of,
  title: '',
  data,
  ...(resumeSchema !== undefined && { resumeSchema }),
  requestedAt: '',
  path: [],
});

function OpenAnswer({ entry, isListed }: { readonly entry: InboxEntry; readonly isListed: boolean }) {
  const full = useFull(entry);
  return (
    <>
      {full.error === null ? null : <Problem error={full.error} />}
      <Answering {...full} />
      {isListed ? (
        <Link to="/inbox" search={{ question: entry.interruptId, run: entry.runId }}>
          Open in the inbox
        </Link>
      ) : null}
    </>
  );
}

function titleOf({ data, nodeId }: QuestionItem): string {
  const [question] = Array.isArray(data.questions) ? data.questions : [];
  const asked =
    typeof question === 'object' && question !== null && 'question' in question ? question.question : undefined;
  const words = data.title ?? data.prompt ?? data.initialPrompt ?? asked;
  return typeof words === 'string' ? words : `Question of ${nodeId ?? 'the run'}`;
}
