/** Reads the pages of the run list that are needed, and asks for the newest runs while the page is visible. */
import type { RunFilter } from '@cairn/client';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useReducer, useRef } from 'react';
import { host } from '../app/host.ts';
import { isSignedOut, sessionQuery } from '../app/session.ts';
import {
  firstPages,
  missing,
  PAGE_SIZE,
  type ReadPage,
  type RunPages,
  withNewest,
  withoutFar,
  withPage,
} from './run-pages.ts';

/** How often the newest runs are asked for. */
const ASK_EVERY_MS = 2_000;

interface State {
  readonly list: RunPages | null;
  readonly error: unknown;
  /** New runs that the list does not show, because somebody reads further down. */
  readonly hasNewer: boolean;
}

type Change =
  | { readonly is: 'begun' }
  | { readonly is: 'first' | 'newest'; readonly page: ReadPage; readonly atTop?: boolean }
  | { readonly is: 'page'; readonly cursor: string; readonly page: ReadPage }
  | { readonly is: 'seen'; readonly from: number; readonly to: number }
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
    case 'page':
      return list === null ? state : { ...state, list: withPage(list, change.cursor, change.page), error: null };
    case 'seen':
      return list === null ? state : { ...state, list: withoutFar(list, change.from, change.to) };
  }
}

export interface RunPagesHook extends State {
  /** Tells which rows are in view. */
  readonly see: (from: number, to: number) => void;
  readonly reload: () => void;
}

export function useRunPages(filter: RunFilter): RunPagesHook {
  const [state, change] = useReducer(changed, empty);
  const queries = useQueryClient();
  const key = JSON.stringify(filter);
  const reading = useRef(new Set<string>());
  const atTop = useRef(true);
  const generation = useRef(0);

  const failed = useCallback(
    (error: unknown) => {
      if (isSignedOut(error)) void queries.resetQueries({ queryKey: sessionQuery.queryKey });
      change({ is: 'failed', error });
    },
    [queries],
  );

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

  useEffect(() => {
    generation.current += 1;
    reading.current.clear();
    change({ is: 'begun' });
    void read('first');
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void read('newest');
    }, ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, [read]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter.
  const see = useCallback(
    (from: number, to: number) => {
      atTop.current = from === 0;
      if (state.list === null) return;
      change({ is: 'seen', from, to });
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
