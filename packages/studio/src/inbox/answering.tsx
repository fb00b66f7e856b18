/** The form of a question, or why this person has none. */
import { useScope } from '../app/session.ts';
import { AnswerForm } from './answer-form.tsx';
import type { FullQuestion } from './use-full.ts';

export function Answering({ entry, refusal }: FullQuestion) {
  const mayAnswer = useScope('approvals:respond');
  if (refusal !== undefined)
    return (
      <div className="problem" role="note">
        <code>{refusal.code}</code>
        <span>{refusal.message}</span>
      </div>
    );
  if (!mayAnswer)
    return (
      <p className="second">Your key may read this question. To answer it, a key needs the scope approvals:respond.</p>
    );
  // Of a large question, the inbox has nothing to fill in until it is read.
  return entry.data === undefined && entry.isCut === true ? null : <AnswerForm key={entry.interruptId} entry={entry} />;
}
