/** A run as a React hook. */
import { useSyncExternalStore } from 'react';
import type { Client } from '../client.ts';
import type { Live } from '../live/live-store.ts';
import { liveRun, type RunView } from '../live/run.ts';
import { Shared } from './shared.ts';

const runs = new Shared<Live<RunView>>();

/** The state of a run, kept up to date until it is over. Components that show the same run share one connection. */
export function useRun(client: Pick<Client, 'watch'>, runId: string): RunView {
  const { subscribe, getSnapshot, getInitialSnapshot } = runs.of(client, runId, () => liveRun(client, runId));
  return useSyncExternalStore(subscribe, getSnapshot, getInitialSnapshot);
}
