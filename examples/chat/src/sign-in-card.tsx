/** A sign-in that a task needs: at the service itself, or with a key that the user types in. */
import { useEntry } from '@cairn/client/react';
import { memo, useId, useState } from 'react';
import type { EntryProps } from './entry-props.ts';
import { useAction } from './use-action.ts';

export const SignInCard = memo(({ conversation, id }: EntryProps) => {
  const signIn = useEntry(conversation, 'signIns', id);
  const action = useAction();
  if (signIn === undefined) return null;
  const { asked, status } = signIn;
  const service = asked.provider ?? 'the service';
  return (
    <section className="card sign-in" data-is={status} aria-label={`Sign in to ${service}`}>
      <div className="row">
        <p className="prompt">{asked.prompt}</p>
        {status !== 'open' && <span className="badge">{words[status]}</span>}
      </div>
      {status === 'open' && (
        <>
          {asked.authUrl === undefined ? (
            <KeyForm
              infoUrl={asked.infoUrl}
              isBusy={action.isBusy}
              onSend={(credential) => action.run(() => conversation.signIn(asked, { credential }))}
            />
          ) : (
            <button
              type="button"
              className="main"
              onClick={() => action.run(() => conversation.signIn(asked, { open: openWindow }))}
            >
              Sign in to {service}
            </button>
          )}
          <button
            type="button"
            disabled={action.isBusy}
            onClick={() => action.run(() => conversation.signIn(asked, { denied: true }))}
          >
            Not now
          </button>
        </>
      )}
      {action.failure !== null && (
        <p className="failure" role="alert">
          {action.failure}
        </p>
      )}
    </section>
  );
});

const words = { completed: 'Signed in', closed: 'No longer open' } as const;

const openWindow = (url: string) => window.open(url, '_blank', 'noopener');

interface KeyFormProps {
  readonly infoUrl: string | undefined;
  readonly isBusy: boolean;
  readonly onSend: (credential: string) => void;
}

/** The client encrypts the key for the host before it leaves the page. */
function KeyForm({ infoUrl, isBusy, onSend }: KeyFormProps) {
  const [key, setKey] = useState('');
  const id = useId();
  return (
    <form
      className="fields"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(key);
        setKey('');
      }}
    >
      <div className="field">
        <label htmlFor={id}>Your key</label>
        <input
          id={id}
          type="password"
          autoComplete="off"
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        {infoUrl?.startsWith('https://') && (
          <small>
            <a href={infoUrl} target="_blank" rel="noreferrer">
              Where to find it
            </a>
          </small>
        )}
      </div>
      <button type="submit" className="main" disabled={isBusy}>
        Send key
      </button>
    </form>
  );
}
