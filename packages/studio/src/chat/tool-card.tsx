/** A tool call: what it does, how far it is, what came of it. */
import { useEntry } from '@cairn/client/react';
import { useMutation } from '@tanstack/react-query';
import { memo } from 'react';
import { Problem } from '../parts/problem.tsx';
import { Folded, StateMark, Value } from '../run/marks.tsx';
import { brief } from '../run/words.ts';
import type { EntryProps } from './entry-props.ts';

const words = { running: 'running', succeeded: 'ok', failed: 'failed', stopped: 'stopped' } as const;

export const ToolCard = memo(function ToolCard({ conversation, id }: EntryProps) {
  const tool = useEntry(conversation, 'tools', id);
  const cancel = useMutation({ mutationFn: () => conversation.cancelTool(id, 'Cancelled in Studio.') });
  if (tool === undefined) return null;
  const { toolName, arguments: given, status, progress, result, error, isCancelable } = tool;
  const name = toolName ?? 'tool';
  return (
    <section className="card" data-tone={status === 'failed' ? 'failed' : undefined} aria-label={`Tool ${name}`}>
      <div className="card-head">
        <StateMark status={words[status]} />
        <code className="cut">{name}</code>
        <span className="label cut grow">{brief(given ?? {}, 90)}</span>
        {status === 'running' && isCancelable && (
          <button type="button" className="button" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </button>
        )}
      </div>
      {status === 'running' && progress !== null && (
        <div className="progress">
          <progress max={1} value={progress.progress} aria-label={`Progress of ${name}`} />
          <span className="label figure">{Math.round(progress.progress * 100)} %</span>
          <span className="second cut">{progress.message ?? ''}</span>
        </div>
      )}
      {error !== null && <p className="failed-text">{error}</p>}
      {cancel.isError && <Problem error={cancel.error} />}
      <Folded
        title={
          <span className="second">
            {result === undefined ? 'Arguments' : 'Result'}{' '}
            <span className="label">{result === undefined ? '' : brief(result, 100)}</span>
          </span>
        }
      >
        {() => (
          <>
            <span className="label">Arguments</span>
            <Value of={given ?? {}} />
            {result !== undefined && (
              <>
                <span className="label">Result</span>
                <Value of={result} />
              </>
            )}
          </>
        )}
      </Folded>
    </section>
  );
});
