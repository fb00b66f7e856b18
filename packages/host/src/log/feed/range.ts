/** What a subscriber follows: one run, or every run of a context in the order of their commits. */
import type { ContextRows, RunRows } from '../ports/event-log.ts';
import type { Row } from '../ports/rows.ts';

export type RunRange = Pick<RunRows, 'runId' | 'after' | 'audience'>;
export type ContextRange = Pick<ContextRows, 'contextId' | 'afterCursor' | 'audience'>;
export type Range = RunRange | ContextRange;

/** A run counts its own events. */
export const seqOf = (row: Row): number => row.seq;

/** A context counts the events of all its runs. */
export const cursorOf = (row: Row): number => row.cursor;
