/** Makes a branch of a run from an event on: how each later call is made, and with which inputs. */
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/problem.tsx';
import { forkOf, uses } from './fork-request.ts';
import { laterCalls } from './later-calls.ts';
import type { RunState } from './run-state.ts';

interface ForkDialogProps {
  readonly state: RunState;
  /** The first event that the branch does not share. */
  readonly fromSeq: number;
  close(): void;
}

export function ForkDialog({ state, fromSeq, close }: ForkDialogProps) {
  const { client, runId, history } = state;
  const navigate = useNavigate();
  const calls = useMemo(() => laterCalls(history, fromSeq), [history, fromSeq]);
  const first = history.rows.find(({ type }) => type === 'run.started');
  const inputs = first?.type === 'run.started' ? (first.payload.inputs ?? {}) : {};
  const [error, setError] = useState<unknown>(null);
  const [isSent, setSent] = useState(false);
  const fork = async (form: FormData): Promise<void> => {
    const made = await client.runs.fork(
      runId,
      forkOf(form, { fromSeq, calls: calls.map(({ calls: name }) => name), inputs }),
    );
    close();
    await navigate({ to: '/runs/$runId', params: { runId: made.runId } });
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setSent(true);
    setError(null);
    fork(new FormData(event.currentTarget)).catch((problem: unknown) => {
      setError(problem);
      setSent(false);
    });
  };
  return (
    <Dialog label={`Fork from event ${fromSeq}`} onClose={close} className="fork-dialog">
      <form onSubmit={submit}>
        <h2>Fork from event {fromSeq}</h2>
        <p className="second">
          The new run shares the events before {fromSeq} and goes on by itself. This run does not change.
        </p>
        {calls.length === 0 ? null : (
          <fieldset className="fork-calls">
            <legend className="label">Calls that this run made after the cut</legend>
            {calls.map(({ calls: name, count }, at) => (
              <label key={name} className="fork-call">
                <code className="cut" title={name}>
                  {name}
                </code>
                <span className="label figure">{count} ×</span>
                <select className="input" name={`rule-${at}`} defaultValue="reuse">
                  {uses.map(({ use, means }) => (
                    <option key={use} value={use}>
                      {means}
                    </option>
                  ))}
                </select>
              </label>
            ))}
          </fieldset>
        )}
        <label className="fork-field">
          <span className="label">Inputs, as JSON. What you leave as it is stays as it was.</span>
          <textarea
            className="input fork-inputs"
            name="inputs"
            rows={5}
            spellCheck={false}
            defaultValue={JSON.stringify(inputs, null, 2)}
          />
        </label>
        {error === null ? null : <Problem error={error} />}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={close}>
            Keep this run only
          </button>
          <button type="submit" className="button" data-kind="main" disabled={isSent}>
            Fork from event {fromSeq}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
