/** The form for the answer to a question: presses, fields, or a turn of a conversation. */
import { initialOf, JsonBox, readSchema, SchemaField } from '@cairn/client/react';
import { canDecline, type InboxEntry, type Json } from '@cairn/protocol';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { host } from '../app/host.ts';
import { Problem } from '../parts/problem.tsx';
import { type Action, type AskedQuestion, answerOf, askedIn } from './question-kinds.ts';
import { SignInForm } from './sign-in-form.tsx';

export function AnswerForm({ entry }: { readonly entry: InboxEntry }) {
  const asked = askedIn(entry);
  const answer = useMutation({
    mutationFn: (value: Json) => host.runs.answer(entry.runId, entry.interruptId, value),
  });
  const form = { isBusy: answer.isPending || answer.isSuccess, onAnswer: (value: Json) => answer.mutate(value) };
  /** Whether the host took it. */
  const take = (value: Json): Promise<boolean> =>
    answer.mutateAsync(value).then(
      () => true,
      () => false,
    );
  return (
    <>
      {asked.is === 'actions' && <Actions actions={asked.actions} {...form} />}
      {asked.is === 'questions' && <Questions questions={asked.questions} {...form} />}
      {asked.is === 'conversation' && <Turn isBusy={answer.isPending} take={take} />}
      {asked.is === 'sign-in' && <SignInForm entry={entry} service={asked.service} />}
      {asked.is === 'event' && (
        <Value {...form} wrap={(value) => ({ eventPayload: value })} schema={entry.resumeSchema} />
      )}
      {asked.is === 'value' && <Value {...form} wrap={(value) => value} schema={entry.resumeSchema} />}
      {answer.isError && <Problem error={answer.error} />}
    </>
  );
}

interface FormProps {
  readonly isBusy: boolean;
  readonly onAnswer: (value: Json) => void;
}

function Actions({ actions, isBusy, onAnswer }: FormProps & { readonly actions: readonly Action[] }) {
  const [feedback, setFeedback] = useState('');
  const [value, setValue] = useState<Json | undefined>(undefined);
  const [chosen, setChosen] = useState<Action | null>(null);
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen !== null) onAnswer(answerOf(chosen, { feedback, value }));
  };
  const press = (action: Action) => {
    if (action.needs === undefined) onAnswer(answerOf(action, { feedback, value: undefined }));
    else setChosen(action);
  };
  return (
    <form className="answer" onSubmit={submit}>
      {chosen?.needs === 'json' && (
        <div className="field">
          <label htmlFor={`${id}-value`}>{chosen.label}, as JSON</label>
          <JsonBox id={`${id}-value`} required value={value} onChange={setValue} />
        </div>
      )}
      <div className="field">
        <label htmlFor={`${id}-text`}>
          {chosen?.needs === 'feedback' ? 'What should change?' : 'Comment'}
          {chosen?.needs !== 'feedback' && <span className="label"> optional, recorded with your answer</span>}
        </label>
        <textarea
          id={`${id}-text`}
          className="input"
          rows={2}
          required={chosen?.needs === 'feedback'}
          value={feedback}
          onChange={({ target }) => setFeedback(target.value)}
        />
      </div>
      <ul className="effects">
        {actions.map((action) => (
          <li key={action.name}>
            <button
              type={chosen === action ? 'submit' : 'button'}
              className="button"
              data-kind={action.isMain === true ? 'main' : action.isDanger === true ? 'danger' : undefined}
              disabled={isBusy}
              onClick={chosen === action ? undefined : () => press(action)}
            >
              {action.label}
            </button>
            <span className="second">{action.effect}</span>
          </li>
        ))}
      </ul>
    </form>
  );
}

function Questions({ questions, isBusy, onAnswer }: FormProps & { readonly questions: readonly AskedQuestion[] }) {
  const [answers, setAnswers] = useState<Readonly<Record<string, Json>>>(() =>
    Object.fromEntries(
      questions.flatMap(({ id, schema }) => {
        const value = initialOf(schemaOf(schema));
        return value === undefined ? [] : [[id, value]];
      }),
    ),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAnswer({ answers });
  };
  return (
    <form className="answer" onSubmit={submit}>
      {questions.map(({ id, question, schema }) => (
        <SchemaField
          key={id}
          schema={schemaOf(schema)}
          name={id}
          label={questions.length === 1 ? 'Your answer' : question}
          isRequired
          depth={0}
          value={answers[id]}
          onChange={(value) =>
            setAnswers(({ [id]: _before, ...others }) => (value === undefined ? others : { ...others, [id]: value }))
          }
        />
      ))}
      <Send isBusy={isBusy} word="Send the answer" effect="The run continues with it." />
      {questions.every(({ schema }) => canDecline(schema)) && (
        <ul className="effects">
          <li>
            <button
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() => onAnswer({ answers: Object.fromEntries(questions.map(({ id }) => [id, null])) })}
            >
              Decline
            </button>
            <span className="second">The server that asks is told that you decline.</span>
          </li>
        </ul>
      )}
    </form>
  );
}

/** A question without a schema takes a text. */
const schemaOf = (schema: Json | undefined) => readSchema(schema ?? { type: 'string' });

interface TurnProps {
  readonly isBusy: boolean;
  readonly take: (value: Json) => Promise<boolean>;
}

function Turn({ isBusy, take }: TurnProps) {
  const [text, setText] = useState('');
  const id = useId();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // What could not be sent stays, to be sent again.
    if (await take({ operation: 'exchange', turn: { content: text } })) setText('');
  };
  return (
    <form className="answer" onSubmit={submit}>
      <div className="field">
        <label htmlFor={id}>Your turn</label>
        <textarea
          id={id}
          className="input"
          rows={3}
          required
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      <div className="actions">
        <button type="submit" className="button" data-kind="main" disabled={isBusy}>
          Send
        </button>
        <button type="button" className="button" disabled={isBusy} onClick={() => void take({ operation: 'close' })}>
          End the conversation
        </button>
      </div>
    </form>
  );
}

interface ValueProps extends FormProps {
  readonly schema: Json | undefined;
  readonly wrap: (value: Json) => Json;
}

function Value({ schema: given, wrap, isBusy, onAnswer }: ValueProps) {
  const schema = readSchema(given);
  const [value, setValue] = useState<Json | undefined>(() => initialOf(schema));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAnswer(wrap(value ?? null));
  };
  return (
    <form className="answer" onSubmit={submit}>
      <SchemaField schema={schema} name="" isRequired depth={0} value={value} onChange={setValue} />
      <Send isBusy={isBusy} word="Send the answer" effect="The run continues with it." />
    </form>
  );
}

const Send = ({
  isBusy,
  word,
  effect,
}: {
  readonly isBusy: boolean;
  readonly word: string;
  readonly effect: string;
}) => (
  <ul className="effects">
    <li>
      <button type="submit" className="button" data-kind="main" disabled={isBusy}>
        {word}
      </button>
      <span className="second">{effect}</span>
    </li>
  </ul>
);
