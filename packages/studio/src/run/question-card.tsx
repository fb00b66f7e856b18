/** A question of a run, with the form of the inbox for its answer. */
import { useInbox } from '@cairn/client/react';
import { Link } from '@tanstack/react-router';
import { host } from '../app/host.ts';
import type { QuestionItem } from '../folds/conversation/items.ts';
import { AnswerForm } from '../inbox/answer-form.tsx';
import { Folded, StateMark, Value } from './marks.tsx';
import { answerWords } from './words.ts';

interface QuestionCardProps {
  readonly item: QuestionItem;
  /** The past takes no answers. */
  readonly isPast: boolean;
}

export function QuestionCard({ item, isPast }: QuestionCardProps) {
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
      {isOpen && !isPast ? <Answer item={item} /> : null}
      {item.answer === undefined ? null : <p className="second">Answer: {answerWords(item.answer)}</p>}
    </div>
  );
}

function Answer({ item }: { readonly item: QuestionItem }) {
  const entry = useInbox(host).entries?.find(({ interruptId }) => interruptId === item.interruptId);
  if (entry === undefined) return null;
  return (
    <>
      <AnswerForm entry={entry} />
      <Link to="/inbox" search={{ question: item.interruptId, run: entry.runId }}>
        Open in the inbox
      </Link>
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
