/** The palette: everything that can be done or opened, by its name. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { host } from '../app/host.ts';
import { setTheme, themes } from '../app/theme.ts';
import { Dialog } from '../parts/dialog.tsx';
import { oneLine, titleOf } from '../runs/run-facts.ts';
import { useAllKeys } from './keys.tsx';
import { screens } from './screens.ts';
import { useSignOut } from './use-sign-out.ts';

interface Entry {
  /** Two runs may have one name. */
  readonly id?: string;
  readonly name: string;
  readonly kind: string;
  readonly run: () => void;
}

/** A run, by its id. */
const RUN_ID = /^run_[\w-]{6,122}$/;
/** The newest runs are found by what they are about. */
const RUNS = 100;
const SHOWN_RUNS = 8;

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const found = useEntries(typed.trim());
  const chosen = Math.min(at, found.length - 1);
  // The list is longer than its frame.
  useEffect(() => {
    document.getElementById(`palette-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const act = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      setAt((chosen + step + found.length) % found.length);
    }
    if (event.key === 'Enter') act(found[chosen]);
  };
  return (
    <Dialog label="Palette" className="palette" onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen}` : undefined}
        aria-label="Find a screen, a run or an action"
        placeholder="Find a screen, a run or an action"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div id="palette-list" className="found" role="listbox" aria-label="Found" tabIndex={-1}>
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
          <div
            key={`${entry.kind} ${entry.id ?? entry.name}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => act(entry)}
            onMouseMove={() => setAt(index)}
          >
            <span className="cut">{entry.name}</span>
            <span className="label">{entry.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="second none">Nothing has this name. Older runs open by their id.</p>}
    </Dialog>
  );
}

function useEntries(typed: string): readonly Entry[] {
  const navigate = useNavigate();
  const keys = useAllKeys();
  const signOut = useSignOut();
  const all: readonly Entry[] = [
    ...screens.map(({ name, to }) => ({ name, kind: 'screen', run: () => void navigate({ to }) })),
    ...keys.flatMap(({ label, run, inPalette }) => (inPalette === true ? [{ name: label, kind: 'action', run }] : [])),
    ...themes.map((theme) => ({ name: `Theme: ${theme}`, kind: 'setting', run: () => setTheme(theme) })),
    { name: 'Documentation', kind: 'docs', run: () => void window.open('/docs/', '_blank', 'noreferrer') },
    { name: 'Sign out', kind: 'session', run: signOut },
  ];
  const runs = useRunEntries();
  const words = typed.toLowerCase().split(/\s+/);
  const isNamed = ({ name, kind }: Entry) => words.every((word) => `${name} ${kind}`.toLowerCase().includes(word));
  const found = typed === '' ? [] : runs.filter(isNamed).slice(0, SHOWN_RUNS);
  const named = [...all.filter(isNamed), ...found];
  if (!RUN_ID.test(typed)) return named;
  const open = { name: typed, kind: 'run', run: () => void navigate({ to: '/runs/$runId', params: { runId: typed } }) };
  return [open, ...named];
}

function useRunEntries(): readonly Entry[] {
  const navigate = useNavigate();
  const { data } = useQuery({
    queryKey: ['palette', 'runs'],
    queryFn: ({ signal }) => host.runs.list({ limit: RUNS }, { signal }),
    staleTime: 5_000,
  });
  return (data?.runs ?? []).map((run) => {
    const { runId, workflowId } = run;
    const title = titleOf(run);
    return {
      id: runId,
      name: title === null ? workflowId : `${oneLine(title)} · ${workflowId}`,
      kind: 'run',
      run: () => void navigate({ to: '/runs/$runId', params: { runId } }),
    };
  });
}
