/** The statuses of a run. Separate from the snapshot schema, so that a browser that needs only the names loads no parser. */

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

/** True if the run has ended. */
export const isTerminalStatus = (status: RunStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';
