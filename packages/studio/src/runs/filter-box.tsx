/** The filter: a box that takes the words of `cairn runs`, and the statuses that people look for most. */
import type { RunStatus } from '@cairn/protocol';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type RefObject, useEffect, useState } from 'react';
import { CopyButton } from '../parts/copied.tsx';
import { Mark, toneOf, wordOf } from '../parts/status.tsx';
import { commandOf, parseWords, type RunSearch, wordsOf } from './filter.ts';

const quick: readonly RunStatus[] = ['running', 'waiting-approval', 'waiting-input', 'failed'];

interface FilterBoxProps {
  readonly search: RunSearch;
  readonly box: RefObject<HTMLInputElement | null>;
}

export function FilterBox({ search, box }: FilterBoxProps) {
  const navigate = useNavigate();
  const shown = wordsOf(search).join(' ');
  const [typed, setTyped] = useState(shown);
  const [problem, setProblem] = useState<string | null>(null);
  // The address may change by a link or by going back.
  useEffect(() => setTyped(shown), [shown]);
  const apply = (next: RunSearch) => void navigate({ to: '/runs', search: next });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const parsed = parseWords(typed);
    setProblem('problem' in parsed ? parsed.problem : null);
    if ('search' in parsed) apply(parsed.search);
  };
  return (
    <search className="search">
      <form className="filter" onSubmit={submit}>
        <div className="box">
          <input
            ref={box}
            className="input"
            aria-label="Filter runs"
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? undefined : 'filter-problem'}
            placeholder="status:failed  workflow:hello  tag:nightly"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => {
              setTyped(target.value);
              setProblem(null);
            }}
            onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
          />
          {problem === null && <kbd className="key">/</kbd>}
          {problem !== null && (
            <span id="filter-problem" className="bubble" role="alert">
              {problem}
            </span>
          )}
        </div>
        <div className="chips">
          {quick.map((status) => (
            <button
              key={status}
              type="button"
              className="button chip"
              data-tone={toneOf(status)}
              aria-pressed={search.status === status}
              onClick={() => {
                const { status: before, parent: _, ...others } = search;
                apply(before === status ? others : { ...others, status });
              }}
            >
              <Mark tone={toneOf(status)} />
              {wordOf(status)}
            </button>
          ))}
          <button
            type="button"
            className="button chip"
            aria-pressed={search.parent === 'any'}
            title="Also runs that other runs started"
            onClick={() => apply(search.parent === 'any' ? {} : { parent: 'any' })}
          >
            Child runs
          </button>
          {shown !== '' && <CopyButton text={commandOf(search)} label="Copy as command" />}
        </div>
      </form>
    </search>
  );
}
