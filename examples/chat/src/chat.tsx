/** The page: a conversation, and a field for the next message. */
import type { ConversationClient } from '@cairn/client/context';
import { useConversation } from '@cairn/client/react';
import { useEffect, useState } from 'react';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { Header } from './header.tsx';
import { Outgoing } from './outgoing.tsx';
import { type Suggestion, Suggestions } from './suggestions.tsx';
import { TaskView } from './task-view.tsx';
import { useAddress } from './use-address.ts';
import { useStickyScroll } from './use-sticky-scroll.ts';

export function Chat({ client }: { readonly client: ConversationClient }) {
  const [address, setAddress] = useAddress();
  const chat = useConversation(client, address);
  const { conversation, contextId, state } = chat;
  const [failure, setFailure] = useState<string | null>(null);
  useStickyScroll(chat);

  useEffect(() => {
    if (contextId !== null && contextId !== address) setAddress(contextId);
  }, [contextId, address, setAddress]);

  async function begin({ agentId, workflowId, tools, text }: Suggestion) {
    setFailure(null);
    try {
      if (workflowId === undefined) {
        await conversation.send(text, agentId === undefined ? {} : { agentId, ...(tools !== undefined && { tools }) });
        return;
      }
      const configurable = contextId === null ? {} : { 'cairn.contextId': contextId };
      const run = await client.runs.create({ workflowId, inputs: { message: text }, configurable });
      setAddress(run.contextId ?? null);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  }

  const isEmpty = state.roots.length === 0 && chat.outgoing.length === 0 && !chat.isLoading;
  return (
    <div className="page">
      <Header chat={chat} onNew={() => setAddress(null)} />
      <main aria-busy={chat.isLoading}>
        {state.isTrimmed && <p className="note">Only the newest part of this conversation is shown.</p>}
        {chat.isLoading && <p className="note">Reading the conversation…</p>}
        {isEmpty && <Welcome />}
        <ol className="tasks">
          {state.roots.map((id) => (
            <li key={id}>
              <TaskView conversation={conversation} id={id} />
            </li>
          ))}
        </ol>
        <Outgoing conversation={conversation} messages={chat.outgoing} />
      </main>
      <footer>
        {failure !== null && (
          <p className="failure" role="alert">
            {failure}
          </p>
        )}
        <Suggestions onPick={(suggestion) => void begin(suggestion)} />
        <Composer
          isWorking={chat.status !== 'idle'}
          onSend={(text) => void begin({ text })}
          onStop={() => void conversation.stop('The user pressed stop.')}
        />
      </footer>
      <Announcer chat={chat} />
    </div>
  );
}

const Welcome = () => (
  <section className="welcome">
    <h2>What shall we do?</h2>
    <p>Write a message, or pick one of the requests below.</p>
  </section>
);
