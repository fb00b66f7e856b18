/** The top bar: the screens, the pill, and what belongs to the page as a whole. */
import { useInbox } from '@cairn/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { host } from '../app/host.ts';
import { sessionQuery } from '../app/session.ts';
import { setTheme, type Theme, useTheme } from '../app/theme.ts';
import { DocsLink } from '../parts/docs-link.tsx';
import { Pill } from './pill.tsx';
import { screens } from './screens.ts';
import { useSignOut } from './use-sign-out.ts';

interface TopBarProps {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

export function TopBar({ onPalette, onHelp }: TopBarProps) {
  const { entries } = useInbox(host);
  const waiting = entries?.length ?? 0;
  return (
    <header className="top-bar">
      <Link to="/runs" className="brand" aria-label="Cairn Studio">
        <Stones />
        <span>Cairn</span>
      </Link>
      <nav aria-label="Screens">
        {screens.map(({ name, to }) => (
          <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }} activeOptions={{ includeSearch: false }}>
            {name}
            {to === '/inbox' && <Waiting count={waiting} />}
          </Link>
        ))}
      </nav>
      <button type="button" className="button find" onClick={onPalette}>
        <span>Find</span> <kbd className="key">⌘ K</kbd>
      </button>
      <Pill />
      <DocsLink className="button docs">Docs</DocsLink>
      <ThemeSwitch />
      <button
        type="button"
        className="button square"
        data-kind="plain"
        aria-label="Keys"
        title="Keys (?)"
        onClick={onHelp}
      >
        ?
      </button>
      <Who />
    </header>
  );
}

/** Keeps its place while there is nothing to count, so that the names beside it stand still. */
const Waiting = ({ count }: { readonly count: number }) =>
  count === 0 ? (
    <span className="badge figure none" aria-hidden="true" />
  ) : (
    <span className="badge figure" data-tone="waiting">
      {count > 99 ? '99+' : count}
      <span className="only-read"> open questions</span>
    </span>
  );

const next: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const signs: Readonly<Record<Theme, string>> = { system: '◐', light: '○', dark: '●' };

function ThemeSwitch() {
  const theme = useTheme();
  const title = `Theme: ${theme}. Press for ${next[theme]}.`;
  return (
    <button
      type="button"
      className="button square"
      data-kind="plain"
      aria-label={title}
      title={title}
      onClick={() => setTheme(next[theme])}
    >
      {signs[theme]}
    </button>
  );
}

function Who() {
  const session = useQuery(sessionQuery).data;
  const signOut = useSignOut();
  if (session === undefined) return null;
  const name = session.principal ?? session.tenant;
  return (
    <button
      type="button"
      className="button who"
      data-kind="plain"
      title={`Signed in as ${name} of ${session.tenant}. Press to sign out.`}
      onClick={signOut}
    >
      Sign out
    </button>
  );
}

const Stones = () => (
  <svg width="18" height="18" viewBox="0 0 32 32" aria-hidden="true" fill="currentColor">
    <ellipse cx="16" cy="26" rx="12" ry="4" />
    <ellipse cx="15" cy="18" rx="9" ry="3.4" opacity="0.85" />
    <ellipse cx="17" cy="11" rx="6.4" ry="2.8" opacity="0.7" />
    <ellipse cx="16" cy="5.6" rx="3.6" ry="2" opacity="0.55" />
  </svg>
);
