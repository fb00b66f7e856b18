/** A page as a user of the AI SDK writes one: the published `useChat` with its default transport. */
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

interface Settings {
  readonly api: string;
  readonly bearer: string;
  readonly id: string;
}

/** Tools that the page executes. */
const tools = [
  {
    name: 'pick_color',
    description: 'Lets the user pick a color.',
    parameters: { type: 'object', properties: {} },
  },
];

type Chat = ReturnType<typeof useChat>;
type Part = UIMessage['parts'][number];

function Page({ api, bearer, id }: Settings) {
  const [text, setText] = useState('');
  const chat: Chat = useChat({
    id,
    resume: true,
    messages: JSON.parse(sessionStorage.getItem(id) ?? '[]'),
    transport: new DefaultChatTransport({ api, headers: { authorization: `Bearer ${bearer}` }, body: { tools } }),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
    onToolCall: ({ toolCall }) => {
      if (toolCall.dynamic || toolCall.toolName !== 'pick_color') return;
      const { toolCallId } = toolCall;
      void chat.addToolOutput({ tool: 'pick_color', toolCallId, output: 'green' });
    },
  });
  const { messages, status, error } = chat;
  // As a page would keep them: a reload begins with what was there.
  useEffect(() => sessionStorage.setItem(id, JSON.stringify(messages)), [id, messages]);
  return (
    <main>
      <p id="status">{error === undefined ? status : `error: ${error.message}`}</p>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role}>
          {message.parts.map((part, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no ids, and keep their places.
            <PartView key={i} part={part} chat={chat} />
          ))}
        </article>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void chat.sendMessage({ text });
          setText('');
        }}
      >
        <input id="text" value={text} onChange={(event) => setText(event.target.value)} />
      </form>
    </main>
  );
}

function PartView({ part, chat }: { readonly part: Part; readonly chat: Chat }) {
  if (part.type === 'text') return <p className="text">{part.text}</p>;
  if (part.type === 'reasoning') return <p className="reasoning">{part.text}</p>;
  if (!isToolUIPart(part)) return null;
  const name = part.type === 'dynamic-tool' ? part.toolName : part.type;
  return (
    <p className="tool" data-name={name} data-state={part.state}>
      {name}: {JSON.stringify(part.output ?? null)}
      {part.state === 'approval-requested' && (
        <button
          type="button"
          className="approve"
          onClick={() => void chat.addToolApprovalResponse({ id: part.approval.id, approved: true })}
        >
          {part.approval.requestReason}
        </button>
      )}
      {part.state === 'input-available' && name === 'cairn.question' && (
        <button
          type="button"
          className="goods"
          onClick={() => void chat.addToolOutput({ tool: name, toolCallId: part.toolCallId, output: 'goods' })}
        >
          goods
        </button>
      )}
    </p>
  );
}

const settings: Settings = JSON.parse(decodeURIComponent(location.hash.slice(1)));
createRoot(document.body.appendChild(document.createElement('div'))).render(<Page {...settings} />);
