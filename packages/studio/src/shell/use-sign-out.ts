/** Ends the session of this browser, and forgets everything that the page knew. */
import { useQueryClient } from '@tanstack/react-query';
import { host, setSessionToken } from '../app/host.ts';

export function useSignOut(): () => void {
  const queries = useQueryClient();
  return () => {
    void host.session.close().finally(() => {
      setSessionToken(null);
      queries.clear();
      // A fresh page holds nothing of the one before.
      location.assign('/sign-in');
    });
  };
}
