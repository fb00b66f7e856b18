/** What somebody said. Text of agents is Markdown without HTML, text of people is text. */
import type { TaskState } from '@cairn/client/context';
import { useEntry } from '@cairn/client/react';
import { memo, useState } from 'react';
import { CopyButton } from '../parts/copied.tsx';
import { shortAgent } from '../parts/figures.ts';
import { Markdown } from '../text/markdown.tsx';
import { EditMessage } from './edit-message.tsx';
import type { EntryProps } from './entry-props.ts';
import { useTalk } from './talk-actions.ts';

export const AgentMessage = memo(function AgentMessage({ conversation, id }: EntryProps) {
  const message = useEntry(conversation, 'messages', id);
  if (message === undefined) return null;
  const { agentId, text, isOpen, isPartial } = message;
  return (
    <div className="said" data-role="agent">
      <span className="said-by">
        <span className="initials" aria-hidden="true">
          {(agentId === null ? 'ag' : shortAgent(agentId)).slice(0, 2)}
        </span>
        <strong title={agentId ?? undefined}>{agentId === null ? 'Agent' : shortAgent(agentId)}</strong>
      </span>
      <Markdown text={text} />
      {isOpen && <span className="caret" title="Still writing" />}
      {isPartial && <p className="label">Some of it is missing here. Its run holds all of it.</p>}
    </div>
  );
});

interface UserMessageProps extends EntryProps {
  readonly task: TaskState;
}

export function UserMessage({ conversation, id, task }: UserMessageProps) {
  const message = useEntry(conversation, 'messages', id);
  const { retry, isBusy } = useTalk();
  const [isEdited, setEdited] = useState(false);
  if (message === undefined) return null;
  const { text } = message;
  if (isEdited) return <EditMessage task={task} text={text} onClose={() => setEdited(false)} />;
  return (
    <div className="said" data-role="user">
      <div className="said-text">{text}</div>
      <div className="said-actions">
        <CopyButton text={text} />
        {retry !== null && (
          <>
            <button type="button" className="button" data-kind="plain" onClick={() => setEdited(true)}>
              Edit
            </button>
            {task.isOver && (
              <button
                type="button"
                className="button"
                data-kind="plain"
                disabled={isBusy}
                title={
                  isBusy
                    ? 'Another message is being answered.'
                    : 'Ask the same again. The agent does not hear this answer.'
                }
                onClick={() => retry(task, text)}
              >
                Retry
              </button>
            )}
          </>
        )}
      </div>
    </div>
  );
}
