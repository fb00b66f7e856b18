/** A sign-in at another service that a tool needs, from an entry of the inbox. */
import { type InboxEntry, isJsonObject } from '@cairn/protocol';
import { useMutation, useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { Problem } from '../parts/problem.tsx';
import { ServiceSignIn, type SignInStep } from '../parts/service-sign-in.tsx';

export function SignInForm({ entry, service }: { readonly entry: InboxEntry; readonly service: string }) {
  const run = useQuery({
    queryKey: ['run', entry.runId],
    queryFn: ({ signal }) => host.runs.get(entry.runId, { signal }),
  });
  const contextId = run.data?.contextId;
  const complete = useMutation({
    mutationFn: async (step: SignInStep) =>
      contextId === undefined ? null : host.context(contextId).signIn(entry.interruptId, step),
  });
  const correlation = isJsonObject(entry.data?.correlation) ? entry.data.correlation : {};
  const isOAuth = correlation.authType === 'oauth2';
  if (run.isError) return <Problem error={run.error} onRetry={() => void run.refetch()} />;
  return (
    <ServiceSignIn
      service={service}
      address={isOAuth ? contextId && authorizeAddress(contextId, entry.interruptId) : null}
      isBusy={complete.isPending || contextId === undefined}
      error={complete.error}
      onStep={complete.mutate}
    />
  );
}

const authorizeAddress = (contextId: string, authId: string): string =>
  `/api/contexts/${encodeURIComponent(contextId)}/auths/${encodeURIComponent(authId)}/authorize`;
