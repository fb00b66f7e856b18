/** The messages of a conversation, with the end in view unless the reader scrolled away from it. */
import type { Conversation } from '@cairn/client/react';
import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect, useMemo, useRef } from 'react';
import { host } from '../app/host.ts';
import { ScrollFrame } from '../parts/scroll-frame.tsx';
import { Outgoing } from './outgoing.tsx';
import { type TalkActions, TalkContext } from './talk-actions.ts';
import { TaskView } from './task-view.tsx';

interface TalkProps {
  readonly chat: Conversation;
  readonly mayTalk: boolean;
  /** Who answers the next message; null for the default agent. */
  readonly agentId: string | null;
}

/** Pixels from the end that count as being there. */
const NEAR_END = 100;

export function Talk({ chat, mayTalk, agentId }: TalkProps) {
  const { conversation, state, outgoing, isLoading } = chat;
  const actions = useActions(chat, mayTalk);
  const frame = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs whenever the conversation changed.
  useLayoutEffect(() => {
    const at = frame.current;
    if (at !== null && follows.current) at.scrollTop = at.scrollHeight;
  }, [state, outgoing]);
  return (
    <ScrollFrame
      ref={frame}
      className="talk-scroll"
      role="log"
      aria-label="Messages"
      aria-busy={isLoading}
      onScroll={({ currentTarget: at }) => {
        follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END;
      }}
    >
      <div className="talk-column">
        {state.isTrimmed && <p className="second">The oldest messages are left out here. The runs hold all of them.</p>}
        {isLoading && state.roots.length === 0 && <Bones />}
        <TalkContext value={actions}>
          {state.roots.map((id) => (
            <TaskView key={id} conversation={conversation} id={id} />
          ))}
        </TalkContext>
        <Outgoing conversation={conversation} messages={outgoing} agentId={agentId} />
      </div>
    </ScrollFrame>
  );
}

function useActions({ conversation, contextId, status, state }: Conversation, mayTalk: boolean): TalkActions {
  const navigate = useNavigate();
  const isBusy = status !== 'idle';
  const [first] = state.roots;
  return useMemo(() => {
    const agentOf = (agentId: string | null) => (agentId === null ? {} : { agentId });
    return {
      isBusy,
      retry: mayTalk
        ? ({ taskId, agentId }, text) => {
            // A message that did not arrive stays in the conversation, which says why.
            conversation.send(text, { ...agentOf(agentId), retryOf: taskId }).catch(() => undefined);
          }
        : null,
      fork: async ({ taskId, agentId }, text) => {
        if (contextId === null) return;
        // Nothing is shared before the first message.
        const shared = taskId === first ? null : await host.context(contextId).fork(taskId);
        const context = shared === null ? host.context() : host.context(shared.contextId);
        const sent = await context.send(text, agentOf(agentId));
        await navigate({ to: '/chat/$contextId', params: { contextId: sent.contextId } });
      },
    };
  }, [conversation, contextId, isBusy, first, mayTalk, navigate]);
}

const Bones = () => (
  <div className="talk-bones" aria-hidden="true">
    <span className="bone" />
    <span className="bone" />
    <span className="bone" />
  </div>
);
