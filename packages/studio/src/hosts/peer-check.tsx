/** The check of one peer: what was found, one thing after the other, as `cairn peer check` says it. */
import type { PeerChecked } from '@cairn/protocol';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { host } from '../app/host.ts';
import { Problem } from '../parts/problem.tsx';
import { Mark, type Tone } from '../parts/status.tsx';

export function PeerCheck({ hostId }: { readonly hostId: string }) {
  const [key, setKey] = useState('');
  const [workflow, setWorkflow] = useState('');
  const id = useId();
  const check = useMutation({
    mutationFn: () =>
      host.peers.check({
        hostId,
        ...(key !== '' && { key }),
        ...(workflow !== '' && { workflow }),
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    check.mutate();
  };
  return (
    <>
      <form className="peer-form" onSubmit={submit}>
        <div className="field">
          <label htmlFor={`${id}-key`}>
            Your key there <span className="label">optional, used for this check alone</span>
          </label>
          <input
            id={`${id}-key`}
            className="input"
            type="password"
            autoComplete="off"
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-workflow`}>
            Workflow there <span className="label">optional, it is started to see its cause</span>
          </label>
          <input
            id={`${id}-workflow`}
            className="input"
            autoComplete="off"
            spellCheck={false}
            value={workflow}
            disabled={key === ''}
            onChange={({ target }) => setWorkflow(target.value)}
          />
        </div>
        <button type="submit" className="button" data-kind="main" disabled={check.isPending}>
          {check.isPending ? 'Checking' : 'Check'}
        </button>
      </form>
      {check.isError && <Problem error={check.error} />}
      {check.data !== undefined && <Findings findings={check.data.findings} />}
    </>
  );
}

const tones: Readonly<Record<PeerChecked['findings'][number]['state'], Tone>> = {
  good: 'done',
  doubtful: 'waiting',
  bad: 'failed',
};
const words = { good: 'works', doubtful: 'look at it', bad: 'does not work' } as const;

const Findings = ({ findings }: { readonly findings: PeerChecked['findings'] }) => (
  <ul className="findings" aria-label="Findings">
    {findings.map(({ subject, state, text, hint }) => (
      <li key={subject} data-tone={tones[state]}>
        <span className="status">
          <Mark tone={tones[state]} />
          <span className="only-read">{words[state]}</span>
        </span>
        <strong>{subject}</strong>
        <span className="found">{text}</span>
        {hint !== undefined && <span className="second hint">{hint}</span>}
      </li>
    ))}
  </ul>
);
