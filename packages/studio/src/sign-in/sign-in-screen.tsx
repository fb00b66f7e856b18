/** The sign-in: with the one-time link of a terminal, or with a key. Neither stays in the page or its address. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { host, hostWithKey } from '../app/host.ts';
import { sessionQuery, taken } from '../app/session.ts';
import { Command } from '../parts/copied.tsx';
import { Problem } from '../parts/problem.tsx';
import './sign-in.css';

export function SignInScreen() {
  const [key, setKey] = useState('');
  const open = useOpen();
  const { mutate } = open;
  const lastCode = useRef('');
  useEffect(() => {
    const take = () => {
      const code = location.hash.slice(1);
      // Strict mode mounts twice, and a code is good once.
      if (code === '' || code === lastCode.current) return;
      lastCode.current = code;
      history.replaceState(history.state, '', location.pathname + location.search);
      mutate({ code });
    };
    take();
    // A link that somebody pastes into this page loads nothing anew.
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, [mutate]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ key: key.trim() });
  };
  return (
    <main className="sign-in">
      <form className="panel" onSubmit={submit}>
        <h1>Cairn Studio</h1>
        <p className="second">Every agent turn, tool call and answer of your runs, as it happens.</p>
        <label htmlFor="key">Key of this host</label>
        <input
          id="key"
          className="input"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          value={key}
          onChange={({ target }) => setKey(target.value)}
        />
        <button type="submit" className="button" data-kind="main" disabled={open.isPending}>
          {open.isPending ? 'Signing in…' : 'Sign in'}
        </button>
        {open.isError && <Problem error={open.error} />}
        <hr />
        <p className="second">Without a key at hand, have a terminal print a link. It opens Studio once.</p>
        <Command text="npx cairn studio" />
      </form>
    </main>
  );
}

type Given = { readonly code: string } | { readonly key: string };

function useOpen() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { back } = useSearch({ from: '/sign-in' });
  return useMutation({
    mutationFn: (given: Given) =>
      'code' in given ? host.session.redeemLink(given.code) : hostWithKey(given.key).session.open(),
    onSuccess: (session) => {
      queries.setQueryData(sessionQuery.queryKey, taken(session));
      void navigate({ href: isOwnPath(back) ? back : '/runs', replace: true });
    },
  });
}

/** The address comes out of a link, so it may lead to a screen of this host only. */
const isOwnPath = (path: string | undefined): path is string =>
  path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in');
