/** A sign-in that a task needs: at the service itself, or with a key that is encrypted in the page. */
import { useEntry } from '@cairn/client/react';
import { useMutation } from '@tanstack/react-query';
import { memo } from 'react';
import { ServiceSignIn, type SignInStep } from '../parts/service-sign-in.tsx';
import { StateMark } from '../run/marks.tsx';
import { safeAddress } from '../text/markdown-blocks.ts';
import type { EntryProps } from './entry-props.ts';

const words = { open: 'asks you to sign in', completed: 'signed in', closed: 'no longer open' } as const;

export const SignInCard = memo(function SignInCard({ conversation, id }: EntryProps) {
  const signIn = useEntry(conversation, 'signIns', id);
  const step = useMutation({
    mutationFn: async (given: SignInStep) => (signIn === undefined ? null : conversation.signIn(signIn.asked, given)),
  });
  if (signIn === undefined) return null;
  const { asked, status } = signIn;
  const service = asked.provider ?? 'the service';
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
        <ServiceSignIn
          service={service}
          address={asked.authUrl === undefined ? null : safeAddress(asked.authUrl)}
          info={asked.infoUrl === undefined ? null : safeAddress(asked.infoUrl)}
          isBusy={step.isPending}
          error={step.error}
          onStep={step.mutate}
        />
      )}
    </section>
  );
});
