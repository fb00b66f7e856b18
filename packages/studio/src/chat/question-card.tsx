/** A question of an agent or a tool, with the form for its answer in the conversation. */
import type { Question } from '@cairn/client/context';
import { initialOf, readSchema, SchemaField, useEntry, useInbox } from '@cairn/client/react';
import { eventPlace, type Json, type TaskEventOf } from '@cairn/protocol';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, memo, useState } from 'react';
import { host } from '../app/host.ts';
import { useScope } from '../app/session.ts';
import { AnswerForm } from '../inbox/answer-form.tsx';
import '../inbox/inbox.css';
import { shortAgent } from '../parts/figures.ts';
import { Problem } from '../parts/problem.tsx';
import { Left } from '../parts/time.tsx';
import { StateMark } from '../run/marks.tsx';
import { answerWords } from '../run/words.ts';
import type { EntryProps } from './entry-props.ts';

export const QuestionCard = memo(function QuestionCard({ conversation, id }: EntryProps) {
  const question = useEntry(conversation, 'questions', id);
  const mayAnswer = useScope('approvals:respond');
  // A question that the agent above may answer is not for the user yet.
  if (question === undefined || !question.isForUser) return null;
  const { asked, status } = question;
  const isOpen = status === 'open';
  return (
    <section className="card chat-question" data-tone={isOpen ? 'waiting' : undefined} aria-label="Question">
      <div className="card-head">
        <StateMark status={status} label={isOpen ? 'asks you' : endOf(question)} />
        <span className="grow" />
        {isOpen && asked.expiresAt !== undefined && (
          <span className="label">
            expires <Left until={asked.expiresAt} />
          </span>
        )}
      </div>
      <p className="prompt">{asked.prompt}</p>
      {question.received !== null && <Given received={question.received} />}
      {isOpen && mayAnswer && <Answer question={question} conversation={conversation} id={id} />}
      {isOpen && !mayAnswer && <p className="second">To answer, a key needs the scope approvals:respond.</p>}
    </section>
  );
});

function endOf({ status, received }: Question): string {
  if (received === null) return status === 'closed' ? 'no longer open' : status;
  const { outcome } = received.metadata ?? {};
  if (outcome === 'timeout') return 'nobody answered in time';
  if (outcome === 'canceled') return 'no longer open';
  return `answered by ${received.userId ?? shortAgent(received.agentId ?? '')}`;
}

/** The answer itself, which only the log of the run holds. Its row is known, so that one page is read. */
function Given({ received }: { readonly received: TaskEventOf<'input-received'> }) {
  const { eventId } = received;
  const { data } = useQuery({
    queryKey: ['given-answer', eventId],
    queryFn: async ({ signal }) => {
      const place = eventPlace(eventId);
      if (place === null) return null;
      const { events } = await host.events.poll(place.runId, { after: place.seq - 1, waitSeconds: 1, signal });
      const row = events.find((event) => event.eventId === eventId);
      return row?.type === 'interrupt.resolved' ? (row.payload.resumeValue ?? null) : null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  // It keeps its line while it is read.
  return <p className="given">{data === undefined ? '\u00a0' : data === null ? null : answerWords(data)}</p>;
}

/** The inbox knows what each answer does. A question that it does not list has a form of its schema. */
function Answer({ question, conversation, id }: EntryProps & { readonly question: Question }) {
  const entry = useInbox(host).entries?.find(
    ({ interruptId, runId }) => interruptId === id && runId === question.taskId,
  );
  if (entry !== undefined) return <AnswerForm entry={entry} />;
  return <SchemaAnswer question={question} conversation={conversation} id={id} />;
}

function SchemaAnswer({ question: { asked }, conversation, id }: EntryProps & { readonly question: Question }) {
  const isYesOrNo = asked.inputType === 'confirmation';
  const schema = readSchema((asked.schema as Json | undefined) ?? { type: isYesOrNo ? 'boolean' : 'string' });
  const [value, setValue] = useState<Json | undefined>(() => initialOf(schema));
  const answer = useMutation({ mutationFn: (given: Json) => conversation.answer(id, given) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    answer.mutate(value ?? null);
  };
  const options = (asked.options ?? []).filter((option) => typeof option === 'string');
  return (
    <form className="answer" onSubmit={submit}>
      {options.length > 0 ? (
        <div className="actions">
          {options.map((option) => (
            <button
              key={option}
              type="button"
              className="button"
              disabled={answer.isPending}
              onClick={() => answer.mutate(option)}
            >
              {option}
            </button>
          ))}
        </div>
      ) : (
        <>
          <SchemaField schema={schema} name="" isRequired depth={0} value={value} onChange={setValue} />
          <div className="actions">
            <button type="submit" className="button" data-kind="main" disabled={answer.isPending}>
              Send the answer
            </button>
          </div>
        </>
      )}
      {answer.isError && <Problem error={answer.error} />}
    </form>
  );
}
