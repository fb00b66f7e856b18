/** The types of the first and of the last row of a run, for who follows runs and not what is in them. */
import type { EventType } from '@cairn/protocol';

export const runBounds: readonly EventType[] = ['run.started', 'run.completed', 'run.failed', 'run.cancelled'];
