/** The form of a sign-in at another service: a link to the service, or a field for a key that is encrypted in the page. */
import { type FormEvent, useId, useState } from 'react';
import { Problem } from './problem.tsx';

export type SignInStep = { readonly credential: string } | { readonly denied: true };

interface ServiceSignInProps {
  readonly service: string;
  /** Where the service asks the user itself. Null: it takes a key. Undefined: not known yet. */
  readonly address: string | null | undefined;
  /** Where the user finds the key. */
  readonly info?: string | null;
  /** Nothing can be sent at the moment. */
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onStep: (step: SignInStep) => void;
}

export function ServiceSignIn({ service, address, info = null, isBusy, error, onStep }: ServiceSignInProps) {
  const [credential, setCredential] = useState('');
  const field = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onStep({ credential });
    setCredential('');
  };
  return (
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
        {address === null && (
          <button type="submit" className="button" data-kind="main" disabled={isBusy}>
            Sign in
          </button>
        )}
        {typeof address === 'string' && (
          <a className="button" data-kind="main" href={address} target="_blank" rel="noreferrer">
            Sign in at {service}
          </a>
        )}
        <button
          type="button"
          className="button"
          data-kind="danger"
          disabled={isBusy}
          onClick={() => onStep({ denied: true })}
        >
          Refuse
        </button>
      </div>
      {error !== null && <Problem error={error} />}
    </form>
  );
}
