/** A command, or an id, with a button that copies it. */
import { useState } from 'react';

/** How long the button says that it has copied. */
const SAID_MS = 1_500;

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [word, setWord] = useState(label);
  const copy = async () => {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    setWord(isCopied ? 'Copied' : 'Cannot copy');
    setTimeout(() => setWord(label), SAID_MS);
  };
  return (
    <button type="button" className="button" data-kind="plain" onClick={() => void copy()}>
      {word}
    </button>
  );
}

export function Command({ text }: { readonly text: string }) {
  return (
    <div className="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}
