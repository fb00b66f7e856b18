/** What an agent thought, folded until somebody wants to read it. */
import { type LiveConversation, useEntry } from '@cairn/client/react';
import { Folded } from '../run/marks.tsx';
import { brief } from '../run/words.ts';
import { Markdown } from '../text/markdown.tsx';

interface ThoughtsProps {
  readonly conversation: LiveConversation;
  /** They follow one another. */
  readonly ids: readonly string[];
}

export function Thoughts({ conversation, ids }: ThoughtsProps) {
  const newest = useEntry(conversation, 'thoughts', ids.at(-1) ?? '');
  if (newest === undefined) return null;
  return (
    <Folded
      title={
        <span className="second">
          <em>{ids.length === 1 ? 'Thought' : `${ids.length} thoughts`}</em> {brief(newest.content, 110)}
        </span>
      }
    >
      {() => ids.map((id) => <Thought key={id} conversation={conversation} id={id} />)}
    </Folded>
  );
}

function Thought({ conversation, id }: { readonly conversation: LiveConversation; readonly id: string }) {
  const thought = useEntry(conversation, 'thoughts', id);
  return thought === undefined ? null : <Markdown text={thought.content} />;
}
