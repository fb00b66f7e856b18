/** Events without a stream: the whole log of a run, or a long poll for the next events. */
import type { EventDoc, RunStatus } from '@cairn/protocol';
import { type CallOptions, type PastOptions, query, read, runPath } from './calls.ts';
import type { Connection } from './connection.ts';

export interface PollOptions extends CallOptions {
  /** Only events after this sequence; left out, from the first. */
  readonly after?: number;
  /** How long the host may wait for the next event. 1 to 60, default 30. */
  readonly waitSeconds?: number;
}

export interface Polled {
  /** At most some hundreds; the next poll gives the next ones. */
  readonly events: readonly EventDoc[];
  /** The run is over, and these are its last events. */
  readonly isComplete: boolean;
  readonly lastEventSeq: number;
  readonly runStatus: RunStatus;
}

export interface Events {
  /** Every event so far, or up to `atSeq`. */
  all(runId: string, options?: PastOptions): Promise<readonly EventDoc[]>;
  /** The events after a position; waits for the next one when there is none yet. */
  poll(runId: string, options?: PollOptions): Promise<Polled>;
}

const DEFAULT_WAIT_SECONDS = 30;

/** Time that a response may take beyond the requested wait. */
const MARGIN_MS = 30_000;

export function eventCalls(connection: Connection): Events {
  return {
    async all(runId, options) {
      const path = `${runPath(runId)}/events`;
      const { events } = await read<{ events: readonly EventDoc[] }>(connection, path, options);
      return events;
    },
    poll(runId, options = {}) {
      const { after = -1, waitSeconds } = options;
      const timeoutMs = (waitSeconds ?? DEFAULT_WAIT_SECONDS) * 1000 + MARGIN_MS;
      const cursor = query({ lastSequence: after < 0 ? undefined : after, timeout: waitSeconds });
      return connection.json({
        method: 'GET',
        path: `${runPath(runId)}/events/poll${cursor}`,
        signal: options.signal,
        timeoutMs: options.timeoutMs ?? timeoutMs,
      });
    },
  };
}
