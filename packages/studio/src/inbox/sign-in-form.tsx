/** A sign-in at another service that a tool needs: at the service itself, or with a key that is encrypted in the page. */
import { type InboxEntry, isJsonObject } from '@cairn/protocol';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { host } from '../app/host.ts';
import { Problem } from '../parts/problem.tsx';

export function SignInForm({ entry, service }: { readonly entry: InboxEntry; readonly service: string }) {
  const run = useQuery({
    queryKey: ['run', entry.runId],
    queryFn: ({ signal }) => host.runs.get(entry.runId, { signal }),
  });
  const [credential, setCredential] = useState('');
  const id = useId();
  const contextId = run.data?.contextId;
  const complete = useMutation({
    mutationFn: async (step: { readonly credential: string } | { readonly denied: true }) =>
      contextId === undefined ? null : host.context(contextId).signIn(entry.interruptId, step),
  });
  const correlation = isJsonObject(entry.data?.correlation) ? entry.data.correlation : {};
  const isOAuth = correlation.authType === 'oauth2';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    complete.mutate({ credential });
  };
  if (run.isError) return <Problem error={run.error} onRetry={() => void run.refetch()} />;
  const deny = (
    <button type="button" className="button" data-kind="danger" onClick={() => complete.mutate({ denied: true })}>
      Refuse
    </button>
  );
  return (
    <form className="answer" onSubmit={submit}>
      {!isOAuth && (
        <div className="field">
          <label htmlFor={id}>Key of {service}</label>
          <input
            id={id}
            className="input"
            type="password"
            autoComplete="off"
            required
            value={credential}
            onChange={({ target }) => setCredential(target.value)}
          />
          <span className="second">It is encrypted before it leaves this page. No event holds it.</span>
        </div>
      )}
      <div className="actions">
        {isOAuth && contextId !== undefined && (
          <a
            className="button"
            data-kind="main"
            target="_blank"
            rel="noreferrer"
            href={`/api/contexts/${encodeURIComponent(contextId)}/auths/${encodeURIComponent(entry.interruptId)}/authorize`}
          >
            Sign in at {service}
          </a>
        )}
        {!isOAuth && (
          <button
            type="submit"
            className="button"
            data-kind="main"
            disabled={complete.isPending || contextId === undefined}
          >
            Sign in
          </button>
        )}
        {deny}
      </div>
      {complete.isError && <Problem error={complete.error} />}
    </form>
  );
}
