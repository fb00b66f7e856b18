/** Reads the pages of the run list that are needed, and asks what changed while the page is visible. */
import type { RunFilter } from '@cairn/client';
import type { RunChanges, RunSnapshot } from '@cairn/protocol';
import { useCallback, useEffect, useReducer, useRef } from 'react';
import { host } from '../app/host.ts';
import { matches } from './filter.ts';
import {
  firstPages,
  missing,
  PAGE_SIZE,
  type ReadPage,
  type RunPages,
  type Seen,
  withChanged,
  withNewest,
  withoutFar,
  withPage,
} from './run-pages.ts';

/** How often the page asks what changed: one small answer, however long the list is. */
const ASK_EVERY_MS = 1_000;

/** Answers in one go. A page that is further behind reads the newest runs instead. */
const MAX_ANSWERS = 5;

/** Changes tell nothing of imported runs, so that the newest runs are read now and then in any case. */
const READ_EVERY = 30;

interface State {
  readonly list: RunPages | null;
  readonly error: unknown;
  /** New runs that the list does not show, because somebody reads further down. */
  readonly hasNewer: boolean;
}

type Change =
  | { readonly is: 'begun' }
  | { readonly is: 'first' | 'newest'; readonly page: ReadPage; readonly atTop?: boolean }
  | { readonly is: 'changed'; readonly runs: readonly RunSnapshot[]; readonly filter: RunFilter }
  | { readonly is: 'page'; readonly cursor: string; readonly page: ReadPage }
  | { readonly is: 'seen'; readonly seen: Seen }
  | { readonly is: 'failed'; readonly error: unknown };

const empty: State = { list: null, error: null, hasNewer: false };

function changed(state: State, change: Change): State {
  const { list } = state;
  switch (change.is) {
    case 'begun':
      return empty;
    case 'first':
      return { list: firstPages(change.page), error: null, hasNewer: false };
    case 'failed':
      return { ...state, error: change.error };
    case 'newest': {
      const next = list === null ? firstPages(change.page) : withNewest(list, change.page);
      if (next !== null) return { ...state, list: next, error: null };
      return change.atTop === true
        ? { list: firstPages(change.page), error: null, hasNewer: false }
        : { ...state, error: null, hasNewer: true };
    }
    case 'changed':
      return { ...state, list: list && changedPages(list, change).list, error: null };
    case 'page':
      return list === null ? state : { ...state, list: withPage(list, change.cursor, change.page), error: null };
    case 'seen':
      return list === null ? state : { ...state, list: withoutFar(list, change.seen) };
  }
}

interface Following {
  readonly begin: () => Promise<void>;
  readonly newest: () => Promise<void>;
  /** Whether the list was read once. */
  readonly isRead: () => boolean;
  /** Returns whether a run is new to the list. */
  readonly apply: (runs: readonly RunSnapshot[]) => boolean;
  readonly failed: (error: unknown) => void;
}

/** Asks again and again while the page is visible. Returns the function that ends it. */
function followChanges({ begin, newest, isRead, apply, failed }: Following): () => void {
  let isOver = false;
  let position: string | undefined;
  let round = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = async (): Promise<void> => {
    round += 1;
    let hasNew = !isRead() || round % READ_EVERY === 0;
    for (let answers = 0; ; answers += 1) {
      const { runs, position: next }: RunChanges = await host.runs.changes(position);
      if (isOver) return;
      position = next;
      if (runs.length === 0) break;
      hasNew = apply(runs) || hasNew || answers === MAX_ANSWERS;
      if (answers === MAX_ANSWERS) {
        position = (await host.runs.changes()).position;
        break;
      }
    }
    if (hasNew) await newest();
  };
  const turn = async (): Promise<void> => {
    try {
      if (document.visibilityState === 'visible') await ask();
    } catch (error) {
      if (!isOver) failed(error);
    }
    if (!isOver) timer = setTimeout(() => void turn(), ASK_EVERY_MS);
  };
  // The position is taken first: what changes while the first page is read is told as a change.
  const start = async (): Promise<void> => {
    try {
      ({ position } = await host.runs.changes());
    } catch (error) {
      if (!isOver) failed(error);
    }
    if (isOver) return;
    await begin();
    await turn();
  };
  void start();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

const changedPages = (
  list: RunPages,
  { runs, filter }: { readonly runs: readonly RunSnapshot[]; readonly filter: RunFilter },
) => withChanged(list, runs, (run) => matches(filter, run));

export interface RunPagesHook extends State {
  /** Tells which rows are in view. */
  readonly see: (seen: Seen) => void;
  readonly reload: () => void;
}

/** `onChanged` is told of every run that changed, also of those that the list does not hold. */
export function useRunPages(filter: RunFilter, onChanged: (runs: readonly RunSnapshot[]) => void): RunPagesHook {
  const [state, change] = useReducer(changed, empty);
  const key = JSON.stringify(filter);
  const reading = useRef(new Set<string>());
  const atTop = useRef(true);
  const generation = useRef(0);

  const failed = useCallback((error: unknown) => change({ is: 'failed', error }), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter.
  const read = useCallback(
    async (is: 'first' | 'newest') => {
      const own = generation.current;
      try {
        const page = await host.runs.list({ ...filter, limit: is === 'first' ? PAGE_SIZE : PAGE_SIZE / 2 });
        if (own === generation.current) change({ is, page, atTop: atTop.current });
      } catch (error) {
        if (own === generation.current) failed(error);
      }
    },
    [key, failed],
  );

  const latest = useRef<RunPages | null>(null);
  latest.current = state.list;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter.
  useEffect(() => {
    generation.current += 1;
    reading.current.clear();
    change({ is: 'begun' });
    const isRead = () => latest.current !== null;
    const apply = (runs: readonly RunSnapshot[]): boolean => {
      // The reducer changes the list as it then is: a page may have been read meanwhile.
      change({ is: 'changed', runs, filter });
      onChanged(runs);
      return latest.current !== null && changedPages(latest.current, { runs, filter }).hasNew;
    };
    return followChanges({ begin: () => read('first'), newest: () => read('newest'), isRead, apply, failed });
  }, [read, failed, key, onChanged]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter.
  const see = useCallback(
    (seen: Seen) => {
      const { from, to } = seen;
      atTop.current = from === 0;
      if (state.list === null) return;
      change({ is: 'seen', seen });
      for (const cursor of missing(state.list, from, to)) {
        if (reading.current.has(cursor)) continue;
        reading.current.add(cursor);
        const own = generation.current;
        host.runs
          .list({ ...filter, limit: PAGE_SIZE, cursor })
          .then((page) => own === generation.current && change({ is: 'page', cursor, page }), failed)
          .finally(() => reading.current.delete(cursor));
      }
    },
    [state.list, key, failed],
  );

  return { ...state, see, reload: () => void read('first') };
}
