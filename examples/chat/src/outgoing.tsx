/** Messages on their way to the host, and those that did not arrive. */
import type { LiveConversation, OutgoingMessage } from '@cairn/client/react';

interface OutgoingProps {
  readonly conversation: LiveConversation;
  readonly messages: readonly OutgoingMessage[];
}

export const Outgoing = ({ conversation, messages }: OutgoingProps) =>
  messages.map(({ key, content, error }) => (
    <div className="message user" key={key} data-is={error === null ? 'sending' : 'failed'}>
      <p>{content}</p>
      {error !== null && (
        <div className="row" role="alert">
          <span>Not sent.</span>
          <button
            type="button"
            onClick={() => {
              conversation.discard(key);
              conversation.send(content).catch(() => undefined);
            }}
          >
            Send again
          </button>
          <button type="button" onClick={() => conversation.discard(key)}>
            Discard
          </button>
        </div>
      )}
    </div>
  ));
