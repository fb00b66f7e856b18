/** A run for a user interface: its state, kept up to date until it is over. */
import type { Client } from '../client.ts';
import type { RunState } from '../follow.ts';
import { type Live, type LiveStatus, LiveStore, liveCalls } from './live-store.ts';

export interface RunView extends LiveStatus {
  /** Null until it is known. */
  readonly run: RunState | null;
}

export const liveRun = (client: Pick<Client, 'watch'>, runId: string): Live<RunView> =>
  liveCalls(
    new LiveStore<RunState, Pick<RunView, 'run'>>(
      { open: (_data, options) => client.watch(runId, options), reduce: (_data, run) => ({ run }) },
      { run: null },
    ),
  );
