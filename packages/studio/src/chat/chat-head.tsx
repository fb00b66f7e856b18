/** The head of a conversation: what it is about, who answers, how it stands, and the ways out of it. */
import type { Conversation } from '@cairn/client/react';
import { Link } from '@tanstack/react-router';
import { shortAgent } from '../parts/figures.ts';
import { Mark, type Tone } from '../parts/status.tsx';
import { oneLine } from '../runs/run-facts.ts';

interface ChatHeadProps {
  readonly chat: Conversation;
  readonly agentId: string | null;
  readonly onStop: () => void;
  readonly onPane: () => void;
}

const looks: Readonly<Record<Conversation['status'], { readonly tone: Tone; readonly word: string }>> = {
  idle: { tone: 'none', word: 'Your turn' },
  working: { tone: 'working', word: 'Working' },
  waiting: { tone: 'waiting', word: 'Waits for you' },
};

export function ChatHead({ chat, agentId, onStop, onPane }: ChatHeadProps) {
  const { state, status, outgoing, isLoading } = chat;
  const [first] = state.messages.values();
  const words = first?.text ?? outgoing[0]?.content;
  const { tone, word } = looks[status];
  const hasArtifacts = state.artifacts.size > 0;
  return (
    <header className="chat-head">
      <Link to="/chat" className="button back" aria-label="All conversations">
        ‹
      </Link>
      <h1 className="cut" title={words}>
        {words === undefined ? (isLoading ? 'Conversation' : 'New conversation') : oneLine(words)}
      </h1>
      {agentId !== null && (
        <Link to="/agents/$agentId" params={{ agentId }} className="second cut with" title={agentId}>
          with {shortAgent(agentId)}
        </Link>
      )}
      <span className="grow" />
      {state.roots.length > 0 && (
        <span className="status" data-tone={tone} role="status">
          <Mark tone={tone} isMoving={status === 'working'} />
          {word}
        </span>
      )}
      {status !== 'idle' && (
        <button type="button" className="button" data-kind="danger" onClick={onStop}>
          Stop
        </button>
      )}
      {hasArtifacts && (
        <button type="button" className="button pane-button" onClick={onPane}>
          Artifacts <span className="figure">{state.artifacts.size}</span>
        </button>
      )}
    </header>
  );
}
