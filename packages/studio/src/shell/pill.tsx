/** Whether the page shows what is: live, behind, or cut off. */
import { useInbox } from '@cairn/client/react';
import { useBehind } from '../app/connection.ts';
import { host } from '../app/host.ts';

type PillState = { readonly tone: 'done' | 'working' | 'failed'; readonly word: string; readonly title: string };

function pillOf(connection: string, behind: number): PillState {
  if (connection === 'broken' || connection === 'closed') {
    return {
      tone: 'failed',
      word: 'Offline',
      title: 'The host does not answer. You see the last state that is known; the page connects again by itself.',
    };
  }
  if (connection !== 'live') return { tone: 'working', word: 'Connecting', title: 'The page connects to the host.' };
  if (behind > 0) {
    const title = `${behind} events of the run are not shown yet.`;
    return { tone: 'working', word: `Catching up, ${behind} behind`, title };
  }
  return { tone: 'done', word: 'Live', title: 'The page shows every change as it happens.' };
}

export function Pill() {
  const { connection } = useInbox(host);
  const { tone, word, title } = pillOf(connection, useBehind());
  return (
    <span className="pill" data-tone={tone} role="status" title={title}>
      <span className="dot" aria-hidden="true" />
      {word}
    </span>
  );
}
