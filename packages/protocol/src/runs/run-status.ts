/** The statuses a run can have; apart from the snapshot's schema, so that a browser that only needs the names loads no parser. */

export const runStatuses = [
  'pending',
  'running',
  'paused',
  'waiting-approval',
  'waiting-input',
  'waiting-external',
  'completed',
  'failed',
  'cancelling',
  'cancelled',
] as const;
export type RunStatus = (typeof runStatuses)[number];

export const isRunStatus = (value: unknown): value is RunStatus => runStatuses.some((status) => status === value);

/** True when nothing more will happen to the run. */
export const isTerminalStatus = (status: RunStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';
