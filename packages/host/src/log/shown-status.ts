/** The status that clients see: a running run whose child waits shows what the child waits for. */
import type { RunStatus } from '@cairn/protocol';

/** `childWait` is the shown status of its oldest waiting child; null when no child waits. */
export const shownStatus = (own: RunStatus, childWait: RunStatus | null): RunStatus =>
  own === 'running' ? (childWait ?? own) : own;

export const isWaiting = (status: RunStatus): boolean => status.startsWith('waiting-');
