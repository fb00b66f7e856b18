/** What somebody said. Text of an agent is shown as text, never as markup. */
import { useEntry } from '@cairn/client/react';
import { memo } from 'react';
import type { EntryProps } from './entry-props.ts';

export const MessageView = memo(({ conversation, id }: EntryProps) => {
  const message = useEntry(conversation, 'messages', id);
  if (message === undefined || message.text === '') return null;
  const { role, text, isOpen, isPartial } = message;
  return (
    <div className={`message ${role}`} data-is={isOpen ? 'open' : 'complete'}>
      <p>
        <span className="visually-hidden">{role === 'user' ? 'You: ' : 'Agent: '}</span>
        {isPartial && '… '}
        {text}
      </p>
    </div>
  );
});
