/** What the tabs of a run share: its rows, the state that is shown, and the selection. */
import type { Client } from '@cairn/client';
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { FoldHistory } from '../folds/fold-history.ts';
import type { RunFold } from '../folds/run-fold.ts';
import type { RunSearch } from './run-search.ts';
import { type RunData, RunSource } from './run-source.ts';

export interface RunState {
  readonly runId: string;
  readonly client: Client;
  readonly data: RunData;
  readonly history: FoldHistory;
  /** The state that is shown: the present, or as it was after `at`. */
  readonly fold: RunFold;
  /** Changes whenever `fold` does. */
  readonly version: number | string;
  /** The last sequence that is shown. */
  readonly upTo: number;
  readonly search: RunSearch;
  readonly selected: number | null;
  /** Changes the address. */
  go(changes: RunSearch): void;
  select(seq: number | null): void;
  retry(): void;
}

export interface RunPlace {
  readonly client: Client;
  readonly runId: string;
  readonly search: RunSearch;
  go(search: RunSearch): void;
}

export function useRunState({ client, runId, search, go }: RunPlace): RunState {
  const source = useMemo(() => new RunSource(client, runId), [client, runId]);
  const data = useSyncExternalStore(source.subscribe, source.getSnapshot, source.getSnapshot);
  const { history } = data;
  const { at } = search;
  const isPast = at !== undefined && at < history.lastSeq;
  const fold = isPast ? history.at(at) : history.head;
  useEffect(() => {
    document.title = `${fold.totals.workflowId || 'Run'} · Cairn Studio`;
  }, [fold.totals.workflowId]);
  // The same functions for as long as the screen is shown, so that rows which did not change are not drawn again.
  const latest = useRef({ search, go });
  latest.current = { search, go };
  const acts = useMemo(() => {
    const change = (changes: RunSearch): void => latest.current.go({ ...latest.current.search, ...changes });
    return { go: change, select: (seq: number | null): void => change({ event: seq ?? undefined }) };
  }, []);
  return {
    runId,
    client,
    data,
    history,
    fold,
    version: isPast ? `at ${at}` : data.version,
    upTo: isPast ? at : history.lastSeq,
    search,
    selected: search.event ?? null,
    ...acts,
    retry: source.retry,
  };
}
