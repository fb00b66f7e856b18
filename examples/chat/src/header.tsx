/** The title, how the connection is, and a way to begin anew. */
import type { Conversation } from '@cairn/client/react';

const words = {
  idle: 'Not connected',
  connecting: 'Connecting…',
  live: 'Connected',
  broken: 'Connection lost. Trying again…',
  closed: 'Disconnected',
} as const;

export function Header({ chat, onNew }: { readonly chat: Conversation; readonly onNew: () => void }) {
  const { connection, contextId, error, conversation } = chat;
  return (
    <header>
      <h1>Cairn chat</h1>
      {contextId !== null && (
        <span className="connection" data-is={connection}>
          {words[connection]}
        </span>
      )}
      {error !== null && (
        <button type="button" onClick={conversation.reconnect}>
          Connect again
        </button>
      )}
      <button type="button" onClick={onNew}>
        New conversation
      </button>
      {error instanceof Error && (
        <p className="failure" role="alert">
          {error.message}
        </p>
      )}
    </header>
  );
}
