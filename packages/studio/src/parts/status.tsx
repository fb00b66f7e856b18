/** The status of a run: one of four colours, a shape and a word. */
import type { RunStatus } from '@cairn/protocol';

export type Tone = 'working' | 'waiting' | 'done' | 'failed' | 'none';

const looks: Readonly<Record<RunStatus, { readonly tone: Tone; readonly word: string }>> = {
  pending: { tone: 'working', word: 'Pending' },
  running: { tone: 'working', word: 'Running' },
  cancelling: { tone: 'working', word: 'Cancelling' },
  paused: { tone: 'waiting', word: 'Paused' },
  'waiting-approval': { tone: 'waiting', word: 'Needs approval' },
  'waiting-input': { tone: 'waiting', word: 'Needs input' },
  'waiting-external': { tone: 'waiting', word: 'Waiting' },
  completed: { tone: 'done', word: 'Completed' },
  failed: { tone: 'failed', word: 'Failed' },
  cancelled: { tone: 'none', word: 'Cancelled' },
};

export const toneOf = (status: RunStatus): Tone => looks[status].tone;
export const wordOf = (status: RunStatus): string => looks[status].word;

interface StatusProps {
  readonly status: RunStatus;
  /** Without the word, for narrow columns; screen readers still read it. */
  readonly iconOnly?: boolean;
  /** In a view of the past, where nothing moves. */
  readonly isStill?: boolean;
}

export function Status({ status, iconOnly = false, isStill = false }: StatusProps) {
  const { tone, word } = looks[status];
  return (
    <span className="status" data-tone={tone} title={iconOnly ? word : undefined}>
      <Mark tone={tone} isMoving={!isStill && (status === 'running' || status === 'cancelling')} />
      <span className={iconOnly ? 'only-read' : 'cut'}>{word}</span>
    </span>
  );
}

/** The shape of a status. It differs in form, not only in colour. */
export function Mark({ tone, isMoving = false }: { readonly tone: Tone; readonly isMoving?: boolean }) {
  const line = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.75, strokeLinecap: 'round' } as const;
  return (
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      {tone === 'working' && (
        <>
          <circle cx="7" cy="7" r="3" fill="currentColor" />
          {isMoving && <path className="turning" d="M7 1.2a5.8 5.8 0 0 1 5.8 5.8" {...line} />}
        </>
      )}
      {tone === 'waiting' && (
        <>
          <circle cx="7" cy="7" r="4.6" {...line} />
          <path d="M7 2.4a4.6 4.6 0 0 1 0 9.2z" fill="currentColor" />
        </>
      )}
      {tone === 'done' && <path d="M2.8 7.4l2.8 2.8 5.6-6" {...line} />}
      {tone === 'failed' && <path d="M3.4 3.4l7.2 7.2M10.6 3.4l-7.2 7.2" {...line} />}
      {tone === 'none' && <path d="M3 7h8" {...line} />}
    </svg>
  );
}
