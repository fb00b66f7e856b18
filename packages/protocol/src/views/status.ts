/** The status machine of a run: which status follows which, as data, and which status a wait of each kind gives. */
import type { InterruptKind } from '../interrupts/interrupts.ts';
import type { RunStatus } from '../runs/run-status.ts';

export type WaitingStatus = 'waiting-approval' | 'waiting-input' | 'waiting-external';

const open = ['running', 'paused', 'waiting-approval', 'waiting-input', 'waiting-external', 'cancelling'] as const;
const ends = ['completed', 'failed', 'cancelled'] as const;

/** The legal moves. A status may always stay as it is; a terminal one never changes. */
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

/** True when a run may go from one status to the other. */
export const canFollow = (from: RunStatus, to: RunStatus): boolean =>
  from === to || (statusTransitions[from] as readonly RunStatus[]).includes(to);

/** What a run shows while it waits for an answer of this kind; an unknown kind waits for input. */
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

/** How many open questions hold the run in each waiting status. */
export type WaitCounts = Record<WaitingStatus, number>;

export const noWaits = (): WaitCounts => ({ 'waiting-approval': 0, 'waiting-input': 0, 'waiting-external': 0 });

/** The status of a run that is neither paused, cancelling nor over: a person's decision is shown before a system's. */
export function statusOf(waits: WaitCounts): RunStatus {
  if (waits['waiting-approval'] > 0) return 'waiting-approval';
  if (waits['waiting-input'] > 0) return 'waiting-input';
  if (waits['waiting-external'] > 0) return 'waiting-external';
  return 'running';
}
