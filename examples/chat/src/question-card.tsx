/** A question of an agent or a tool, and the form for its answer. */
import type { Question } from '@cairn/client/context';
import { readSchema, useEntry } from '@cairn/client/react';
import { memo } from 'react';
import { type Choice, choicesOf, type Json } from './choices.ts';
import type { EntryProps } from './entry-props.ts';
import { PageToolForm } from './page-tools.tsx';
import { SchemaForm } from './schema-form.tsx';
import { useAction } from './use-action.ts';

export const QuestionCard = memo(({ conversation, id }: EntryProps) => {
  const question = useEntry(conversation, 'questions', id);
  const action = useAction();
  // A question that the agent above may answer is not for the user yet.
  if (question === undefined || !question.isForUser) return null;
  const answer = (value: Json) => action.run(() => conversation.answer(id, value));
  return (
    <section className="card question" data-is={question.status} aria-label="Question">
      <div className="row">
        <p className="prompt">{promptOf(question)}</p>
        {question.status !== 'open' && <span className="badge">{words[question.status]}</span>}
      </div>
      {question.status === 'open' && <Form question={question} isBusy={action.isBusy} onAnswer={answer} />}
      {action.failure !== null && (
        <p className="failure" role="alert">
          {action.failure}
        </p>
      )}
    </section>
  );
});

/** The prompt of a call is for programs. */
const promptOf = ({ asked }: Question): string =>
  asked.inputType === 'tool-execution' ? 'Please pick a color.' : asked.prompt;

const words = { answered: 'Answered', closed: 'No longer open' } as const;

interface FormProps {
  readonly question: Question;
  readonly isBusy: boolean;
  readonly onAnswer: (value: Json) => void;
}

function Form({ question: { asked }, isBusy, onAnswer }: FormProps) {
  if (asked.inputType === 'tool-execution') return <PageToolForm isBusy={isBusy} onAnswer={onAnswer} />;
  // A question without a schema takes a text.
  const schema = readSchema(asked.schema ?? { type: 'string' });
  const choices = choicesOf(asked.options);
  if (choices.length > 0) return <Choices choices={choices} isBusy={isBusy} onAnswer={onAnswer} />;
  if (asked.inputType === 'confirmation' || schema.type === 'boolean') {
    const yesOrNo = [
      { value: true, label: 'Yes' },
      { value: false, label: 'No' },
    ];
    return <Choices choices={yesOrNo} isBusy={isBusy} onAnswer={onAnswer} />;
  }
  return <SchemaForm schema={schema} isBusy={isBusy} onAnswer={onAnswer} />;
}

interface ChoicesProps extends Omit<FormProps, 'question'> {
  readonly choices: readonly Choice[];
}

const Choices = ({ choices, isBusy, onAnswer }: ChoicesProps) => (
  <div className="row">
    {choices.map(({ value, label, description }) => (
      <button type="button" key={label} title={description} disabled={isBusy} onClick={() => onAnswer(value)}>
        {label}
      </button>
    ))}
  </div>
);
