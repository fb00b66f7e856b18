/** A sign-in that a task needs: at the service itself, or with a key that is encrypted in the page. */
import { useEntry } from '@cairn/client/react';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, memo, useId, useState } from 'react';
import { Problem } from '../parts/problem.tsx';
import { StateMark } from '../run/marks.tsx';
import { safeAddress } from '../text/markdown-blocks.ts';
import type { EntryProps } from './entry-props.ts';

const words = { open: 'asks you to sign in', completed: 'signed in', closed: 'no longer open' } as const;

export const SignInCard = memo(function SignInCard({ conversation, id }: EntryProps) {
  const signIn = useEntry(conversation, 'signIns', id);
  const [credential, setCredential] = useState('');
  const field = useId();
  const step = useMutation({
    mutationFn: async (given: { readonly credential: string } | { readonly denied: true }) =>
      signIn === undefined ? null : conversation.signIn(signIn.asked, given),
  });
  if (signIn === undefined) return null;
  const { asked, status } = signIn;
  const service = asked.provider ?? 'the service';
  const address = asked.authUrl === undefined ? null : safeAddress(asked.authUrl);
  const info = asked.infoUrl === undefined ? null : safeAddress(asked.infoUrl);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    step.mutate({ credential });
    setCredential('');
  };
  return (
    <section
      className="card chat-question"
      data-tone={status === 'open' ? 'waiting' : undefined}
      aria-label={`Sign in to ${service}`}
    >
      <div className="card-head">
        <StateMark status={status} label={words[status]} />
      </div>
      <p className="prompt">{asked.prompt}</p>
      {status === 'open' && (
        <form className="answer" onSubmit={submit}>
          {address === null && (
            <div className="field">
              <label htmlFor={field}>Key of {service}</label>
              <input
                id={field}
                className="input"
                type="password"
                autoComplete="off"
                required
                value={credential}
                onChange={({ target }) => setCredential(target.value)}
              />
              <span className="second">It is encrypted before it leaves this page. No event holds it.</span>
              {info !== null && (
                <a href={info} target="_blank" rel="noreferrer">
                  Where to find it
                </a>
              )}
            </div>
          )}
          <div className="actions">
            {address === null ? (
              <button type="submit" className="button" data-kind="main" disabled={step.isPending}>
                Sign in
              </button>
            ) : (
              <a className="button" data-kind="main" href={address} target="_blank" rel="noreferrer">
                Sign in at {service}
              </a>
            )}
            <button
              type="button"
              className="button"
              data-kind="danger"
              disabled={step.isPending}
              onClick={() => step.mutate({ denied: true })}
            >
              Refuse
            </button>
          </div>
          {step.isError && <Problem error={step.error} />}
        </form>
      )}
    </section>
  );
});
