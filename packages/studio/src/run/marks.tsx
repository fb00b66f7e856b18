/** Small parts of the run screen: marks of status, ids, values. */

import { type ReactNode, useState } from 'react';
import { Code } from '../parts/code.tsx';
import { CopyButton } from '../parts/copied.tsx';
import { shortId } from '../parts/figures.ts';
import { Mark, type Tone } from '../parts/status.tsx';
import { pretty } from './words.ts';

const tones: Readonly<Record<string, Tone>> = {
  pending: 'working',
  running: 'working',
  cancelling: 'working',
  retrying: 'working',
  reading: 'working',
  paused: 'waiting',
  waiting: 'waiting',
  open: 'waiting',
  'waiting-approval': 'waiting',
  'waiting-input': 'waiting',
  'waiting-external': 'waiting',
  completed: 'done',
  ok: 'done',
  answered: 'done',
  failed: 'failed',
};

export const toneOf = (status: string): Tone => tones[status] ?? 'none';

/** A shape and a word, so that no status is told by its colour alone. */
export function StateMark({ status, label }: { readonly status: string; readonly label?: string | undefined }) {
  const tone = toneOf(status);
  return (
    <span className="status" data-tone={tone}>
      <Mark tone={tone} isMoving={status === 'running'} />
      {label ?? status.replace('-', ' ')}
    </span>
  );
}

/** An id, cut in the middle. A click copies it. */
export function Id({ of }: { readonly of: string }) {
  return (
    <span className="run-id" title={of}>
      <CopyButton text={of} label={shortId(of)} />
    </span>
  );
}

/** JSON, or text as it is. */
export const Value = ({ of }: { readonly of: unknown }) => <Code parts={[pretty(of)]} />;

/** Something that is folded until it is wanted. Its content is made only then. */
export function Folded({
  title,
  children,
  isOpen = false,
}: {
  readonly title: ReactNode;
  readonly children: () => ReactNode;
  readonly isOpen?: boolean;
}) {
  const [open, setOpen] = useState(isOpen);
  return (
    <details className="folded" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {open ? <div className="folded-body">{children()}</div> : null}
    </details>
  );
}
