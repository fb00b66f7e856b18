/** Which runs of the list show their children, and what is known of those. */
import type { RunSnapshot } from '@cairn/protocol';
import { useCallback, useRef, useState } from 'react';
import { host } from '../app/host.ts';
import { type Children, type OpenRuns, withChangedChildren } from './folded-rows.ts';

/** Children below a row. A link leads to all of them. */
const MAX_CHILDREN = 20;

/** Their pages stay in memory, so the run that was opened first closes. */
const MAX_OPEN = 40;

export interface OpenRunsHook {
  readonly open: OpenRuns;
  readonly toggle: (runId: string) => void;
  /** With runs as the host has them now. */
  readonly change: (runs: readonly RunSnapshot[]) => void;
}

const reading: Children = { runs: null, hasMore: false, error: null };

export function useOpenRuns(): OpenRunsHook {
  const [open, setOpen] = useState<OpenRuns>(new Map());
  const latest = useRef(open);
  latest.current = open;
  const set = useCallback((runId: string, children: Children) => {
    // It may have been closed meanwhile.
    setOpen((now) => (now.has(runId) ? new Map(now).set(runId, children) : now));
  }, []);
  const toggle = useCallback(
    (runId: string) => {
      const isOpen = latest.current.has(runId);
      setOpen((now) => {
        const others = [...now].filter(([id]) => id !== runId);
        return new Map(isOpen ? others : [...others.slice(-MAX_OPEN + 1), [runId, reading]]);
      });
      if (isOpen) return;
      host.runs.list({ parentRunId: runId, limit: MAX_CHILDREN }).then(
        ({ runs, nextCursor }) => set(runId, { runs, hasMore: nextCursor !== null, error: null }),
        (error: unknown) => set(runId, { ...reading, error }),
      );
    },
    [set],
  );
  const change = useCallback(
    (runs: readonly RunSnapshot[]) =>
      setOpen((now) => (now.size === 0 ? now : withChangedChildren(now, runs, MAX_CHILDREN))),
    [],
  );
  return { open, toggle, change };
}
