/** What surrounds every screen: the top bar, the palette, the help, and the way to the sign-in. */
import { Outlet, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isSignedOut, useSession } from '../app/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/problem.tsx';
import { Help } from './help.tsx';
import { KeysProvider, useKeys } from './keys.tsx';
import { Palette } from './palette.tsx';
import './shell.css';
import { TopBar } from './top-bar.tsx';
import { useSignOutProblem } from './use-sign-out.ts';

export function Shell() {
  const session = useSession();
  useSignInWhen(isSignedOut(session.error));
  if (session.isPending || isSignedOut(session.error)) return null;
  if (session.isError) {
    return (
      <main className="state">
        <h2>The host cannot be reached</h2>
        <Problem error={session.error} onRetry={() => void session.refetch()} />
      </main>
    );
  }
  return (
    <KeysProvider>
      <Frame />
    </KeysProvider>
  );
}

/** Leads to the sign-in once, and remembers where from. */
function useSignInWhen(isOut: boolean): void {
  const navigate = useNavigate();
  const router = useRouter();
  useEffect(() => {
    const { href, pathname } = router.state.location;
    if (!isOut || pathname === '/sign-in') return;
    void navigate({ to: '/sign-in', search: pathname === '/runs' ? {} : { back: href }, replace: true });
  }, [isOut, navigate, router]);
}

function Frame() {
  const [shown, setShown] = useState<'palette' | 'help' | null>(null);
  const close = () => setShown(null);
  const problem = useSignOutProblem();
  const [seen, setSeen] = useState<Error | null>(null);
  useKeys([{ key: '?', label: 'Show the keys of this screen', run: () => setShown('help'), inPalette: true }]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      setShown((current) => (current === 'palette' ? null : 'palette'));
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <div className="shell">
      <TopBar onPalette={() => setShown('palette')} onHelp={() => setShown('help')} />
      <main className="screen">
        <Outlet />
      </main>
      {problem !== null && problem !== seen && (
        <Dialog label="Sign out" className="sign-out-problem" onClose={() => setSeen(problem)}>
          <h2>You are still signed in</h2>
          <Problem error={problem} />
        </Dialog>
      )}
      {shown === 'palette' && <Palette onClose={close} />}
      {shown === 'help' && <Help onClose={close} />}
    </div>
  );
}
