/** A tool call: what it does, how far it is, what came of it. */
import type { ToolState } from '@cairn/client/context';
import { useEntry } from '@cairn/client/react';
import { memo } from 'react';
import type { EntryProps } from './entry-props.ts';
import { useAction } from './use-action.ts';

export const ToolCard = memo(({ conversation, id }: EntryProps) => {
  const tool = useEntry(conversation, 'tools', id);
  const action = useAction();
  if (tool === undefined) return null;
  const name = tool.toolName ?? 'Tool';
  const cancel = () => action.run(() => conversation.cancelTool(id, 'The user canceled it.'));
  return (
    <section className="card tool" data-is={tool.status} aria-label={`Tool ${name}`}>
      <div className="row">
        <strong>{name}</strong>
        <span className="badge">{words[tool.status]}</span>
        {tool.status === 'running' && tool.isCancelable && (
          <button type="button" aria-label={`Cancel ${name}`} disabled={action.isBusy} onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
      {tool.status === 'running' && tool.progress !== null && <Progress {...tool.progress} name={name} />}
      {action.failure !== null && (
        <p className="failure" role="alert">
          {action.failure}
        </p>
      )}
      {tool.error !== null && <p className="failure">{tool.error}</p>}
      <Details tool={tool} />
    </section>
  );
});

const words = { running: 'Running', succeeded: 'Done', failed: 'Failed', stopped: 'Stopped' } as const;

interface ProgressProps {
  readonly name: string;
  readonly progress: number;
  readonly message?: string | undefined;
}

const Progress = ({ name, progress, message }: ProgressProps) => (
  <div className="row">
    <progress value={progress} max={1} aria-label={`Progress of ${name}`} />
    <span className="amount">{Math.round(progress * 100)} %</span>
    {message !== undefined && <span className="grow">{message}</span>}
  </div>
);

const Details = ({ tool }: { readonly tool: ToolState }) => (
  <details>
    <summary>Details</summary>
    {tool.arguments !== null && <Value title="Arguments" value={tool.arguments} />}
    {tool.result !== undefined && <Value title="Result" value={tool.result} />}
  </details>
);

const Value = ({ title, value }: { readonly title: string; readonly value: unknown }) => (
  <figure>
    <figcaption>{title}</figcaption>
    <pre>{JSON.stringify(value, null, 2)}</pre>
  </figure>
);
