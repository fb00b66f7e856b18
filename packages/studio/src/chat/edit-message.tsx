/** A message that is changed and sent again, in a new conversation that shares what came before it. */
import type { TaskState } from '@cairn/client/context';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Problem } from '../parts/problem.tsx';
import { useTalk } from './talk-actions.ts';

interface EditMessageProps {
  readonly task: TaskState;
  readonly text: string;
  readonly onClose: () => void;
}

export function EditMessage({ task, text, onClose }: EditMessageProps) {
  const [words, setWords] = useState(text);
  const { fork } = useTalk();
  const send = useMutation({ mutationFn: (changed: string) => fork(task, changed), onSuccess: onClose });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate(words.trim());
  };
  return (
    <form className="said edit" data-role="user" onSubmit={submit}>
      <textarea
        className="input"
        aria-label="Changed message"
        rows={Math.min(10, Math.max(2, words.split('\n').length))}
        value={words}
        // biome-ignore lint/a11y/noAutofocus: the reader pressed Edit to write here.
        autoFocus
        onChange={({ target }) => setWords(target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      />
      <p className="second">
        A new conversation begins here. It shares everything before, and this one stays as it is.
      </p>
      {send.isError && <Problem error={send.error} />}
      <div className="said-actions">
        <button type="button" className="button" onClick={onClose}>
          Keep as it is
        </button>
        <button type="submit" className="button" data-kind="main" disabled={send.isPending || words.trim() === ''}>
          Fork from here
        </button>
      </div>
    </form>
  );
}
