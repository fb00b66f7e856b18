/** The events that end a run: exactly one per run, and nothing after it. Apart from the catalogue, so that a follower loads no schemas. */

export const terminalTypes = ['run.completed', 'run.failed', 'run.cancelled'] as const;
export type TerminalType = (typeof terminalTypes)[number];

export const isTerminalType = (type: string): type is TerminalType =>
  type === 'run.completed' || type === 'run.failed' || type === 'run.cancelled';
