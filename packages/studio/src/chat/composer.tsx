/** Where a message is written. Enter sends it, Shift and Enter begin a new line. */
import type { AgentInventoryEntry } from '@cairn/protocol';
import { type FormEvent, type KeyboardEvent, type RefObject, useEffect, useState } from 'react';

interface ComposerProps {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly agents: readonly AgentInventoryEntry[];
  readonly agentId: string | null;
  readonly isBusy: boolean;
  readonly onAgent: (agentId: string | null) => void;
  readonly onSend: (text: string) => Promise<unknown>;
}

const MAX_ROWS = 8;

export function Composer({ box, agents, agentId, isBusy, onAgent, onSend }: ComposerProps) {
  const [text, setText] = useState('');
  // Ready to type, but never with the keyboard of a phone in front of the page.
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches) box.current?.focus();
  }, [box]);
  const send = () => {
    const words = text.trim();
    if (words === '') return;
    setText('');
    // A message that did not arrive stays in the conversation, which says why.
    onSend(words).catch(() => undefined);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Escape') event.currentTarget.blur();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const isKnown = agentId === null || agents.some((agent) => agent.agentId === agentId);
  return (
    <form className="composer" onSubmit={submit}>
      <textarea
        ref={box}
        className="input"
        aria-label="Message"
        placeholder={isBusy ? 'Write the next message. It waits for its turn.' : 'Write a message'}
        rows={Math.min(MAX_ROWS, Math.max(2, text.split('\n').length))}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKey}
      />
      <div className="composer-foot">
        <label className="second">
          <span className="only-read">Agent that answers</span>
          <select
            className="input"
            value={agentId ?? ''}
            onChange={({ target }) => onAgent(target.value === '' ? null : target.value)}
          >
            <option value="">Default agent</option>
            {!isKnown && <option value={agentId ?? ''}>{agentId}</option>}
            {agents.map(({ agentId: id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <span className="label composer-hint">
          <kbd className="key">enter</kbd> sends, <kbd className="key">shift enter</kbd> begins a line
        </span>
        <button type="submit" className="button" data-kind="main" disabled={text.trim() === ''}>
          Send
        </button>
      </div>
    </form>
  );
}
