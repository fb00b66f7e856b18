/** A request that a button makes: whether it is under way, and why it failed. */
import { useState } from 'react';

export interface Action {
  readonly isBusy: boolean;
  readonly failure: string | null;
  run(act: () => Promise<unknown>): void;
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  return {
    isBusy,
    failure,
    run(act) {
      setBusy(true);
      setFailure(null);
      act()
        .catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)))
        .finally(() => setBusy(false));
    },
  };
}
