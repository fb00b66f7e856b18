/** A task as a peer follows it: rows of the log in, A2A updates out. */
import { type ContextId, isTerminalType, type TaskEvent, type TaskEventKind } from '@cairn/protocol';
import { foldTask, newTaskFold, type TaskFold } from '../../bridges/a2a/fold-task.ts';
import { askedOfCaller, type Question } from '../../bridges/a2a/questions.ts';
import { type A2aState, type A2aUpdate, isTerminal } from '../../bridges/a2a/update.ts';
import { type A2aView, type A2aViewOptions, a2aUpdates, isWaiting, newA2aView } from '../../bridges/a2a/view.ts';
import { Instants } from '../../log/feed/frame.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { everyTaskEvent, shownKind, type TaskFilter } from '../../log/tasks/task-filter.ts';
import { taskEventOf } from '../../log/tasks/task-frame.ts';

/** Kinds that the view of a task is made of. Nothing else is parsed. */
const kinds: ReadonlySet<TaskEventKind> = new Set<TaskEventKind>([
  'task-created',
  'task-status',
  'task-complete',
  'content-delta',
  'content-complete',
  'input-required',
  'input-received',
  'input-forwarded',
  'auth-required',
  'auth-completed',
  'file-write',
  'data-write',
  'dataset-write',
  'error',
]);

/** Of the tasks below, only what they ask and that they ended counts. */
const notBelow: ReadonlySet<TaskEventKind> = new Set<TaskEventKind>([
  'task-created',
  'content-delta',
  'content-complete',
  'file-write',
  'data-write',
  'dataset-write',
]);

/** Where the task is: it goes on, waits for the caller's input, waits for a sign-in, or is over. */
export type Phase = 'working' | 'asks' | 'signs-in' | 'over';

export class FollowedTask {
  readonly #view: A2aView;
  readonly #filter: TaskFilter;
  readonly fold: TaskFold = newTaskFold();
  phase: Phase = 'working';
  /** Updates of the status so far. */
  changes = 0;
  /** The last row that was folded in. */
  cursor: number;
  /** The last row of the task itself, if it came with its payload: it need not be read then. */
  end: Row | null = null;

  constructor(options: A2aViewOptions & { readonly after: number }) {
    this.#view = newA2aView(options);
    this.#filter = { ...everyTaskEvent, taskId: options.taskId, subtree: true, kinds };
    this.cursor = options.after;
  }

  /** What the caller may answer, oldest first. */
  get questions(): readonly string[] {
    return this.asked.flatMap(({ id, isSignIn }) => (isSignIn ? [] : [id]));
  }

  /** What waits for the caller, sign-ins too, oldest first. */
  get asked(): readonly Question[] {
    return askedOfCaller(this.#view.questions);
  }

  /** Folds a row in, and returns its updates. */
  take(row: Row, timestamp: string): readonly A2aUpdate[] {
    if (row.cursor <= this.cursor || this.phase === 'over') return [];
    this.cursor = row.cursor;
    if (row.runId === this.#view.taskId && isTerminalType(row.type) && row.payload !== '') this.end = row;
    const kind = shownKind(this.#filter, row);
    if (kind === null || (row.runId !== this.#view.taskId && notBelow.has(kind))) return [];
    const event = taskEventOf(row, timestamp);
    const updates = a2aUpdates(this.#view, event);
    for (const update of updates) {
      foldTask(this.fold, update);
      if (update.type !== 'status' || isEarly(this.#view, event)) continue;
      this.phase = phaseIn(update.status.state);
      this.changes += 1;
    }
    return updates;
  }
}

/** A tool of the caller is asked for while the task may still be at work. */
const isEarly = (view: A2aView, { kind, taskId }: TaskEvent): boolean =>
  kind === 'input-required' && taskId === view.taskId && !isWaiting(view);

function phaseIn(state: A2aState): Phase {
  if (isTerminal(state)) return 'over';
  if (state === 'auth-required') return 'signs-in';
  return state === 'input-required' ? 'asks' : 'working';
}

/** What a read of the log takes at once. */
const PAGE = { limit: 500, maxBytes: 262_144 };

/** Folds in what happened since. Ends with the task: what follows in its context is not read. */
export async function caughtUp(log: EventLog, contextId: ContextId, followed: FollowedTask): Promise<void> {
  const instants = new Instants();
  while (followed.phase !== 'over') {
    const after = followed.cursor;
    const rows = await log.read({ contextId, afterCursor: after, isForTasks: true, ...PAGE });
    for (const row of rows) followed.take(row, instants.textOf(row.at));
    if (rows.length === 0) return;
  }
}
