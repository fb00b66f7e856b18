/** The kinds of task events, and what filters ask about thoughts. */

/** Stores keep the place of a kind in this list, so a kind is only ever added at the end. */
export const taskEventKinds = [
  'task-created',
  'task-status',
  'task-complete',
  'content-delta',
  'content-complete',
  'tool-start',
  'tool-progress',
  'tool-complete',
  'input-required',
  'input-received',
  'input-forwarded',
  'auth-required',
  'auth-completed',
  'file-write',
  'data-write',
  'dataset-write',
  'subtask-created',
  'thought-stream',
  'error',
  'llm-usage',
  'internal:thought-process',
  'internal:llm-call',
  'internal:checkpoint',
] as const;

export type TaskEventKind = (typeof taskEventKinds)[number];

/** Kinds that only operators see, and only on request. */
export const isInternalKind = (kind: string): boolean => kind.startsWith('internal:');

/** Stores keep the place in this list. `reasoning` stands for every type that is not in it. */
export const thoughtTypes = ['planning', 'reasoning', 'reflection', 'decision', 'observation', 'strategy'] as const;

export type ThoughtType = (typeof thoughtTypes)[number];

/** From the headline to the whole rationale. A filter names the last level that it shows. */
export const verbosityLevels = ['brief', 'normal', 'detailed'] as const;

export type Verbosity = (typeof verbosityLevels)[number];
