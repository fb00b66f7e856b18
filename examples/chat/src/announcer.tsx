/** Tells a screen reader what changed, in whole sentences: not every word that streams in. */
import { openQuestions, openSignIns } from '@cairn/client/context';
import type { Conversation } from '@cairn/client/react';

export function Announcer({ chat }: { readonly chat: Conversation }) {
  return (
    <p className="visually-hidden" role="status">
      {sentenceOf(chat)}
    </p>
  );
}

function sentenceOf({ status, state, connection, isLoading }: Conversation): string {
  if (connection === 'broken') return 'The connection is lost. Trying again.';
  if (isLoading) return '';
  const [question] = openQuestions(state);
  if (question !== undefined) return `Question: ${question.asked.prompt}`;
  const [signIn] = openSignIns(state);
  if (signIn !== undefined) return `Sign-in: ${signIn.asked.prompt}`;
  if (status === 'working') return 'The agent is working.';
  const last = [...state.messages.values()].at(-1);
  return last?.role === 'agent' ? last.text : '';
}
