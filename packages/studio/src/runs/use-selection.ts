/** The runs that somebody has selected, in the order of selecting. */
import type { RunSnapshot } from '@cairn/protocol';
import { useCallback, useMemo, useState } from 'react';

export interface Selection {
  readonly runs: readonly RunSnapshot[];
  readonly has: (runId: string) => boolean;
  readonly toggle: (run: RunSnapshot) => void;
  readonly clear: () => void;
}

/** At most as many as one request can cancel: the host's `MAX_BULK_CANCEL`, written here so that the page loads no parser. */
const MAX_SELECTED = 100;

export function useSelection(): Selection {
  const [runs, setRuns] = useState<readonly RunSnapshot[]>([]);
  const toggle = useCallback((run: RunSnapshot) => {
    setRuns((chosen) => {
      const others = chosen.filter(({ runId }) => runId !== run.runId);
      if (others.length < chosen.length) return others;
      return chosen.length < MAX_SELECTED ? [...chosen, run] : chosen;
    });
  }, []);
  const clear = useCallback(() => setRuns([]), []);
  return useMemo(() => {
    const ids = new Set(runs.map(({ runId }) => runId));
    return { runs, has: (runId: string) => ids.has(runId), toggle, clear };
  }, [runs, toggle, clear]);
}
