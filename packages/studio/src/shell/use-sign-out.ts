/** Ends the session of this browser, and forgets everything that the page knew. */
import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query';
import { host, setSessionToken } from '../app/host.ts';
import { isSignedOut } from '../app/session.ts';

const mutationKey = ['sign-out'];

export function useSignOut(): () => void {
  const queries = useQueryClient();
  const { mutate } = useMutation({
    mutationKey,
    mutationFn: async () => {
      await host.session.close().catch((error: unknown) => {
        // A session that is over needs no end. Of any other the cookie would still open this page.
        if (!isSignedOut(error)) throw error;
      });
      setSessionToken(null);
      queries.clear();
      // A fresh page holds nothing of the one before.
      location.assign('/sign-in');
    },
  });
  return () => mutate();
}

/** Why the last try to sign out failed; null if it did not. */
export function useSignOutProblem(): Error | null {
  const tries = useMutationState({ filters: { mutationKey }, select: ({ state }) => state.error });
  return tries.at(-1) ?? null;
}
