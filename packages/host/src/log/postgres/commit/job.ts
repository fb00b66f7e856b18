/** An append in the queue of a node. */
import type { Append, Appended } from '../../ports/event-log.ts';
import type { QueuedWork } from '../../take-jobs.ts';

export interface AppendJob {
  readonly append: Append;
  readonly work: QueuedWork;
  /** How often its run was not as the node expected. */
  attempts: number;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}
