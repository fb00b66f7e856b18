/** Talk to an agent: the conversations there are, the one that is open, and what its agents made beside it. */
import { useConversation } from '@cairn/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { host } from '../app/host.ts';
import { useScope } from '../app/session.ts';
import { Problem } from '../parts/problem.tsx';
import '../run/run.css';
import { useKeys } from '../shell/keys.tsx';
import { ArtifactPane } from './artifact-pane.tsx';
import './chat.css';
import { ChatHead } from './chat-head.tsx';
import { Composer } from './composer.tsx';
import { ConversationList } from './conversation-list.tsx';
import { Opening } from './opening.tsx';
import { ShownArtifactContext } from './shown-artifact.ts';
import { Talk } from './talk.tsx';

export interface ChatScreenProps {
  /** Null for a new conversation. */
  readonly contextId: string | null;
  /** The agent that the address asks for, in a new conversation. */
  readonly agent: string | null;
}

export function ChatScreen({ contextId: named, agent }: ChatScreenProps) {
  const chat = useConversation(host, named);
  const { conversation, state, contextId, outgoing } = chat;
  const navigate = useNavigate();
  const agents = useQuery({ queryKey: ['agents'], queryFn: ({ signal }) => host.agents.list({ signal }) });
  const [chosen, setChosen] = useState<string | null>(agent);
  const [pane, setPane] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  const artifacts = useMemo(
    () => ({
      shown,
      show: (artifactId: string | null) => {
        setShown(artifactId);
        setPane(true);
      },
    }),
    [shown],
  );
  const box = useRef<HTMLTextAreaElement>(null);
  const mayTalk = useScope('runs:create');
  // The first message of a new conversation gives it an address.
  useEffect(() => {
    if (named === null && contextId !== null)
      void navigate({ to: '/chat/$contextId', params: { contextId }, replace: true });
  }, [named, contextId, navigate]);
  useEffect(() => setChosen(agent), [agent]);
  const last = state.tasks.get(state.roots.at(-1) ?? '')?.agentId ?? null;
  const speaker = chosen ?? last ?? null;
  const stop = () => void conversation.stop('Stopped in Studio.').catch(() => undefined);
  useKeys([
    { key: 'n', label: 'New conversation', run: () => void navigate({ to: '/chat' }), inPalette: true },
    { key: 'm', label: 'Write a message', run: () => box.current?.focus(), inPalette: true },
    { key: 's', label: 'Stop the agents', run: stop, inPalette: true },
    { key: 'a', label: 'Show the artifacts', run: () => setPane((isShown) => !isShown), inPalette: true },
  ]);
  const isNew = named === null && outgoing.length === 0 && state.roots.length === 0;
  const failed = chat.connection === 'closed' && chat.error !== null;
  return (
    <ShownArtifactContext value={artifacts}>
      <div className="chat" data-open={!isNew || undefined} data-pane={pane || undefined}>
        <ConversationList open={contextId} />
        <section className="chat-main" aria-label="Conversation">
          <ChatHead chat={chat} agentId={speaker} onStop={stop} onPane={() => setPane(!pane)} />
          {failed && (
            <div className="state">
              <Problem error={chat.error} onRetry={conversation.reconnect} />
              <Link to="/chat">Begin a new conversation</Link>
            </div>
          )}
          {!failed && isNew && <Opening agents={agents} chosen={speaker} onChoose={setChosen} />}
          {!failed && !isNew && <Talk chat={chat} mayTalk={mayTalk} agentId={speaker} />}
          {!failed && mayTalk && (
            <Composer
              key={named ?? 'new'}
              box={box}
              agents={agents.data ?? []}
              agentId={speaker}
              isBusy={chat.status !== 'idle'}
              onAgent={setChosen}
              onSend={(text) => conversation.send(text, speaker === null ? {} : { agentId: speaker })}
            />
          )}
          {!mayTalk && (
            <p className="second chat-quiet">Your key may read. To write, a key needs the scope runs:create.</p>
          )}
        </section>
        {contextId !== null && state.artifacts.size > 0 && (
          <ArtifactPane
            conversation={conversation}
            contextId={contextId}
            state={state}
            onClose={() => setPane(false)}
          />
        )}
      </div>
    </ShownArtifactContext>
  );
}
