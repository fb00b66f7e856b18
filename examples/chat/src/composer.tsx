/** The field for the next message. Enter sends; Shift and Enter begin a new line. */
import { type KeyboardEvent, useState } from 'react';

interface ComposerProps {
  readonly isWorking: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

export function Composer({ isWorking, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');

  function send() {
    if (text.trim() === '') return;
    onSend(text);
    setText('');
  }

  function onKeyDown(event: KeyboardEvent) {
    // An input method uses Enter to choose a word.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label className="visually-hidden" htmlFor="message">
        Your message
      </label>
      <textarea
        id="message"
        rows={1}
        placeholder="Write a message"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isWorking && (
        <button type="button" className="stop" onClick={onStop}>
          Stop
        </button>
      )}
      <button type="submit" className="main" disabled={text.trim() === ''}>
        Send
      </button>
    </form>
  );
}
