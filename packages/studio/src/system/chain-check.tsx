/** Checks that events are as they were written: those of one run, or of all runs, one after the other. */
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { host } from '../app/host.ts';
import { shortCount } from '../parts/figures.ts';
import { Problem } from '../parts/problem.tsx';
import { Mark } from '../parts/status.tsx';
import { type Checked, checkAll, checkRun, nothingChecked } from './check-chains.ts';

export function ChainCheck() {
  const [runId, setRunId] = useState('');
  const [checked, setChecked] = useState<Checked>(nothingChecked);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const begin = async (only: string | null): Promise<void> => {
    const ended = new AbortController();
    stop.current = ended;
    setError(null);
    setBusy(true);
    setChecked(nothingChecked);
    const { signal } = ended;
    try {
      const steps = only === null ? checkAll(host.runs, signal) : checkRun(host.runs, only, signal);
      for await (const step of steps) setChecked(step);
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void begin(runId.trim() === '' ? null : runId.trim());
  };
  return (
    <section className="panel system-panel" aria-labelledby="chain">
      <h2 id="chain">Chain check</h2>
      <p className="label">
        Each event has a hash that covers all events before it. A changed or lost event breaks the chain.
      </p>
      <form className="chain-form" onSubmit={submit}>
        <input
          className="input"
          aria-label="Run to check"
          placeholder="Id of a run; empty for all runs"
          spellCheck={false}
          value={runId}
          onChange={({ target }) => setRunId(target.value)}
        />
        {isBusy ? (
          <button type="button" className="button" onClick={() => stop.current?.abort()}>
            Stop
          </button>
        ) : (
          <button type="submit" className="button" data-kind="main">
            {runId.trim() === '' ? 'Check all runs' : 'Check this run'}
          </button>
        )}
      </form>
      {error !== null && <Problem error={error} />}
      {checked.runs > 0 && <Result checked={checked} isBusy={isBusy} />}
    </section>
  );
}

function Result({ checked, isBusy }: { readonly checked: Checked; readonly isBusy: boolean }) {
  const { runs, events, retired, problems, isComplete } = checked;
  const tone = problems.length > 0 ? 'failed' : isComplete ? 'done' : 'working';
  return (
    <div role="status">
      <p className="status figure" data-tone={tone}>
        <Mark tone={tone} isMoving={isBusy} />
        {problems.length === 0 ? (isComplete ? 'Whole' : isBusy ? 'Checking' : 'Stopped') : 'Damaged'}:{' '}
        {shortCount(events)} events of {shortCount(runs)} {runs === 1 ? 'run' : 'runs'}
        {retired > 0 && `, ${shortCount(retired)} of them purged`}
      </p>
      <ul className="planned">
        {problems.slice(0, 50).map(({ runId, sequence, message }) => (
          <li key={`${runId} ${sequence}`}>
            <Link to="/runs/$runId" params={{ runId }}>
              {runId}
            </Link>
            <span className="failed-text">{message}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
