/** Thoughts of an agent, folded. */
import { type LiveConversation, useEntry } from '@cairn/client/react';
import { memo } from 'react';

export const Thoughts = ({
  conversation,
  ids,
}: {
  readonly conversation: LiveConversation;
  readonly ids: readonly string[];
}) => (
  <details className="thoughts">
    <summary>{ids.length === 1 ? 'Thought' : `${ids.length} thoughts`}</summary>
    <ul>
      {ids.map((id) => (
        <ThoughtLine key={id} conversation={conversation} id={id} />
      ))}
    </ul>
  </details>
);

const ThoughtLine = memo(({ conversation, id }: { readonly conversation: LiveConversation; readonly id: string }) => {
  const thought = useEntry(conversation, 'thoughts', id);
  if (thought === undefined) return null;
  return (
    <li>
      <b>{thought.thoughtType}</b> {thought.content}
    </li>
  );
});
