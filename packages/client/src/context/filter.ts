/** Which events of a context a reader wants. Streams and pages take the same filters. */
import type { TaskEventKind, ThoughtType, Verbosity } from '@cairn/protocol';

export interface TaskEventFilter {
  /** Only these kinds. */
  readonly kinds?: readonly TaskEventKind[];
  readonly excludeKinds?: readonly TaskEventKind[];
  /** Only this task. */
  readonly taskId?: string;
  /** With `taskId`: also the tasks below it. */
  readonly subtree?: boolean;
  /** `false` hides subtasks, except their questions. */
  readonly subtasks?: boolean;
  readonly thoughtTypes?: readonly ThoughtType[];
  /** The most detailed level of thoughts. Default `normal`. */
  readonly verbosity?: Verbosity;
  /** Hides thoughts of which the agent is less sure, from 0 to 1. */
  readonly minConfidence?: number;
  /** Shows what is for operators, to a key with the scope `audit:read`. */
  readonly debug?: boolean;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export const filterQuery = (filter: TaskEventFilter): Query => ({
  kinds: filter.kinds?.join(','),
  excludeKinds: filter.excludeKinds?.join(','),
  taskId: filter.taskId,
  subtree: filter.subtree ? 1 : undefined,
  subtasks: filter.subtasks === false ? 0 : undefined,
  thoughtTypes: filter.thoughtTypes?.join(','),
  verbosity: filter.verbosity,
  minConfidence: filter.minConfidence,
  debug: filter.debug ? 1 : undefined,
});
