/** Messages on their way to the host, and those that did not arrive. */
import type { LiveConversation, OutgoingMessage } from '@cairn/client/react';
import { Problem } from '../parts/problem.tsx';

interface OutgoingProps {
  readonly conversation: LiveConversation;
  readonly messages: readonly OutgoingMessage[];
  /** Who is to answer a message that is sent again; null for the default agent. */
  readonly agentId: string | null;
}

export const Outgoing = ({ conversation, messages, agentId }: OutgoingProps) =>
  messages.map(({ key, content, error }) => (
    <div className="said" data-role="user" key={key}>
      <div className="said-text" data-sending={error === null || undefined}>
        {content}
      </div>
      {error !== null && (
        <div className="said-failed">
          <Problem error={error} />
          <div className="said-actions">
            <button
              type="button"
              className="button"
              onClick={() => {
                conversation.discard(key);
                conversation.send(content, agentId === null ? {} : { agentId }).catch(() => undefined);
              }}
            >
              Send again
            </button>
            <button type="button" className="button" data-kind="plain" onClick={() => conversation.discard(key)}>
              Discard
            </button>
          </div>
        </div>
      )}
    </div>
  ));
