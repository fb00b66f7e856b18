/** The status machine of a run: which status follows which, as data, and which status a wait of each kind gives. */
import type { InterruptKind } from '../interrupts.ts';
import type { RunStatus } from '../run-snapshot.ts';

export type WaitingStatus = 'waiting-approval' | 'waiting-input' | 'waiting-external';

const open = ['running', 'paused', 'waiting-approval', 'waiting-input', 'waiting-external', 'cancelling'] as const;
const ends = ['completed', 'failed', 'cancelled'] as const;

/** The legal moves. A status may always stay as it is; a terminal one never changes. */
export const statusTransitions = {
  pending: ['running', 'cancelling', 'cancelled', 'failed'],
  running: [...open, ...ends],
  paused: ['running', 'cancelling', 'cancelled', 'failed'],
  'waiting-approval': [...open, ...ends],
  'waiting-input': [...open, ...ends],
  'waiting-external': [...open, ...ends],
  cancelling: ['cancelled', 'failed', 'completed'],
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
