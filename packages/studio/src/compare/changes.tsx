/** One changed value, and the changed lines of a text. */
import type { ArtifactDiff, DiffEntry } from '@cairn/protocol';
import { createElement, type ReactNode } from 'react';
import { Code } from '../parts/code.tsx';
import { pretty } from '../run/words.ts';

type ValueChange = DiffEntry['changes'][number];
type TextPart = NonNullable<ValueChange['text']>[number];

export function Change({ change }: { readonly change: ValueChange }) {
  const { path, a, b, text } = change;
  return (
    <div className="change">
      {path === '' ? null : <code className="label">{path}</code>}
      {text === undefined ? (
        <div className="change-sides">
          {a === undefined ? null : <Code className="removed" parts={[pretty(a)]} />}
          {b === undefined ? null : <Code className="added" parts={[pretty(b)]} />}
        </div>
      ) : (
        <Code parts={text.map(shownPart)} />
      )}
    </div>
  );
}

function shownPart({ op, text }: TextPart): ReactNode {
  if (op === 'same') return text;
  return op === 'added' ? <ins>{text}</ins> : <del>{text}</del>;
}

type Hunk = NonNullable<ArtifactDiff['content']['hunks']>[number];

export const Hunks = ({ hunks }: { readonly hunks: readonly Hunk[] }) => (
  <Code className="hunks" parts={hunks.flatMap(shownHunk)} />
);

const signs = { same: ' ', added: '+', removed: '−' } as const;

const shownHunk = ({ a, b, lines }: Hunk): readonly ReactNode[] => [
  createElement('div', { className: 'label' }, `@@ −${a.start},${a.lines} +${b.start},${b.lines} @@`),
  ...lines.map(({ op, text }) => createElement('div', { 'data-op': op }, `${signs[op]} ${text}`)),
];
