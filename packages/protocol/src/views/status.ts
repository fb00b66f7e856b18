/** The state machine of a run's status, and the waiting status of each interrupt kind. */
import type { InterruptKind } from '../interrupts/interrupts.ts';
import type { RunStatus } from '../runs/run-status.ts';

export type WaitingStatus = 'waiting-approval' | 'waiting-input' | 'waiting-external';

const open = ['running', 'paused', 'waiting-approval', 'waiting-input', 'waiting-external', 'cancelling'] as const;
const ends = ['completed', 'failed', 'cancelled'] as const;

/** The legal transitions. A status may always stay; a terminal one never changes. */
export const statusTransitions = {
  pending: ['running', 'cancelling', ...ends],
  running: [...open, ...ends],
  paused: [...open, ...ends],
  'waiting-approval': [...open, ...ends],
  'waiting-input': [...open, ...ends],
  'waiting-external': [...open, ...ends],
  cancelling: ends,
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<RunStatus, readonly RunStatus[]>;

/** True if the transition is legal. */
export const canFollow = (from: RunStatus, to: RunStatus): boolean =>
  from === to || (statusTransitions[from] as readonly RunStatus[]).includes(to);

/** The status of a run that waits for an answer of this kind. An unknown kind waits for input. */
export function waitingStatus(kind: InterruptKind | undefined): WaitingStatus {
  switch (kind) {
    case 'approval':
    case 'low-confidence':
    case 'conversation.exchange':
      return 'waiting-approval';
    case 'external-event':
      return 'waiting-external';
    default:
      return 'waiting-input';
  }
}

/** The number of open interrupts for each waiting status. */
export type WaitCounts = Record<WaitingStatus, number>;

export const noWaits = (): WaitCounts => ({ 'waiting-approval': 0, 'waiting-input': 0, 'waiting-external': 0 });

/** The status of an active run. An approval takes precedence over input, and input over an external event. */
export function statusOf(waits: WaitCounts): RunStatus {
  if (waits['waiting-approval'] > 0) return 'waiting-approval';
  if (waits['waiting-input'] > 0) return 'waiting-input';
  if (waits['waiting-external'] > 0) return 'waiting-external';
  return 'running';
}
