/** What can be done with a run: buttons in its head, and the same in the palette for those who use the keyboard. */
import { isTerminalStatus } from '@cairn/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useScope } from '../app/session.ts';
import { Problem } from '../parts/problem.tsx';
import { useKeys } from '../shell/keys.tsx';
import type { RunState } from './run-state.ts';

interface RunActionsProps {
  readonly state: RunState;
  fork(): void;
}

interface Action {
  readonly name: string;
  /** In the palette, where nothing around it says of what. */
  readonly label: string;
  readonly kind?: 'danger' | 'plain';
  readonly run: () => void;
}

export function RunActions({ state, fork }: RunActionsProps) {
  const { client, runId } = state;
  const navigate = useNavigate();
  const [error, setError] = useState<unknown>(null);
  // At once, not at the next drawing: a second click of a double click would retry the run twice.
  const isActing = useRef(false);
  const act = (action: () => Promise<unknown>) => (): void => {
    if (isActing.current) return;
    isActing.current = true;
    setError(null);
    action()
      .catch(setError)
      .finally(() => {
        isActing.current = false;
      });
  };
  const retry = act(async () => {
    const made = await client.runs.retry(runId);
    await navigate({ to: '/runs/$runId', params: { runId: made.runId } });
  });
  const status = state.data.snapshot?.status;
  const [mayCancel, mayCreate] = [useScope('runs:cancel'), useScope('runs:create')];
  const isOpen = mayCancel && status !== undefined && !isTerminalStatus(status);
  const stop = act(() => client.runs.cancel(runId, 'stopped in Studio'));
  const pause = act(() => client.runs.pause(runId, { reason: 'paused in Studio' }));
  const resume = act(() => client.runs.resume(runId, 'resumed in Studio'));
  const buttons: readonly Action[] = [
    ...(isOpen ? [{ name: 'Stop', label: 'Stop the run', kind: 'danger', run: stop } as const] : []),
    ...(isOpen && status === 'paused' ? [{ name: 'Resume', label: 'Resume the run', run: resume }] : []),
    ...(mayCreate && status === 'failed' ? [{ name: 'Retry', label: 'Retry the run', run: retry }] : []),
    ...(mayCreate ? [{ name: 'Fork', label: '', run: fork }] : []),
    { name: 'Export', label: 'Export the run', kind: 'plain', run: act(() => exported(state)) },
  ];
  const isPausable = mayCancel && (status === 'running' || status === 'pending');
  const offered = isPausable ? [...buttons, { name: 'Pause', label: 'Pause the run', run: pause }] : buttons;
  // The fork has a key of its own.
  useKeys(offered.flatMap(({ label, run }) => (label === '' ? [] : [{ label, run, inPalette: true }])));
  return (
    <div className="run-actions">
      {buttons.map(({ name, kind, run }) => (
        <button key={name} type="button" className="button" data-kind={kind} onClick={run}>
          {name}
        </button>
      ))}
      {error === null ? null : <Problem error={error} />}
    </div>
  );
}

/** Saves the run with its events and spans as a file. */
async function exported({ client, runId }: RunState): Promise<void> {
  const bundle = await client.runs.debugBundle(runId);
  const address = URL.createObjectURL(new Blob([JSON.stringify(bundle, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${runId}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
