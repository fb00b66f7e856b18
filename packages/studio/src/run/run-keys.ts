/** The keys of the run screen. */
import { positionOf } from '../folds/run-row.ts';
import { useKeys } from '../shell/keys.tsx';
import type { RunTab } from './run-search.ts';
import type { RunState } from './run-state.ts';
import { stepped } from './scrubber.tsx';

const tabKeys: readonly (readonly [key: string, tab: RunTab, label: string])[] = [
  ['c', 'conversation', 'Conversation'],
  ['t', 'timeline', 'Timeline'],
  ['w', 'causes', 'Why: the causes'],
  ['g', 'workflow', 'Graph of the workflow'],
  ['l', 'log', 'Log'],
];

export function useRunKeys(state: RunState, fork: () => void): void {
  useKeys([
    ...tabKeys.map(([key, tab, label]) => ({
      key,
      label,
      run: () => state.go({ tab: tab === 'conversation' ? undefined : tab }),
      inPalette: true,
    })),
    { key: '[', label: 'Event before', run: () => state.go({ at: stepped(state, -1) ?? undefined }) },
    { key: ']', label: 'Event after', run: () => state.go({ at: stepped(state, 1) ?? undefined }) },
    { key: 'j', label: 'Select the next event', run: () => move(state, 1) },
    { key: 'k', label: 'Select the previous event', run: () => move(state, -1) },
    { key: 'f', label: 'Fork from here', run: fork, inPalette: true },
    { key: '/', label: 'Filter the log', run: () => focusFilter(state) },
    { key: 'Escape', label: 'Close the inspector, back to the present', run: () => close(state) },
  ]);
}

function move({ history, selected, upTo, select }: RunState, by: number): void {
  const { rows } = history;
  const last = positionOf(rows, upTo);
  const from = selected === null ? (by > 0 ? -1 : last + 1) : positionOf(rows, selected);
  const next = rows[Math.min(last, Math.max(0, from + by))];
  if (next !== undefined) select(next.seq);
}

function close(state: RunState): void {
  if (state.selected !== null) state.select(null);
  else if (state.search.at !== undefined) state.go({ at: undefined });
}

function focusFilter(state: RunState): void {
  state.go({ tab: 'log' });
  // The tab is drawn first.
  setTimeout(() => document.querySelector<HTMLInputElement>('.log-tools input')?.focus(), 50);
}
