/** Folds the recorded events of a context before a run goes on: what is open in its task, and the messages so far. */
import type { Event as AguiEvent } from '@ag-ui/core';
import { type ContextId, isBelowRun, type RunId, type TaskEvent } from '@cairn/protocol';
import { MessageFold } from '../../bridges/agui/messages.ts';
import { withoutContext } from '../../bridges/agui/run-input.ts';
import { newRunState, type RunState, type ShownRun } from '../../bridges/agui/run-state.ts';
import { take } from '../../bridges/agui/view.ts';
import { Instants } from '../../log/feed/frame.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { everyTaskEvent, shownKind, type TaskFilter } from '../../log/tasks/task-filter.ts';
import { taskEventOf } from '../../log/tasks/task-frame.ts';
import { isEdit } from '../artifacts/edit-run.ts';
import { cursorBefore } from '../contexts/messages.ts';

export interface HistoryPorts {
  readonly log: EventLog;
  readonly contexts: Contexts;
}

export interface HistoryRange {
  readonly contextId: ContextId;
  readonly run: ShownRun;
  /** The run begins after this cursor: before it, a task that waits does not end the run. */
  readonly after: number;
  /** Reads up to here. */
  readonly head: number;
  /** Whether the messages of the whole conversation are wanted. */
  readonly withMessages: boolean;
  /** Whether the reader of the history has left. Asked before each page. Default: never. */
  readonly isGone?: (() => boolean) | undefined;
}

export interface History {
  readonly state: RunState;
  readonly messages: MessageFold;
  /** The last cursor that was read. */
  readonly cursor: number;
  /** The last event that was taken; null when there was none. */
  readonly last: TaskEvent | null;
}

/** Rows of a task, and of the tasks before it, that are read at most: the newest ones. */
const MAX_ROWS = 20_000;
/** Earlier messages of the user that are looked for. */
const MAX_TASKS = 50;
/** About as many as an edit of an artifact has. */
const EDIT_ROWS = 10;

const LIMITS = { messages: 500, characters: 400_000 };

/** So few that to fold them takes about 3 ms. */
const PAGE = { limit: 125, maxBytes: 65_536 };

export async function readHistory(ports: HistoryPorts, range: HistoryRange): Promise<History> {
  const { contextId, run, head, isGone = () => false } = range;
  const fold = new HistoryFold(range);
  let cursor = await startOf(ports, range);
  const filter: TaskFilter = range.withMessages
    ? everyTaskEvent
    : { ...everyTaskEvent, taskId: run.taskId, subtree: true };
  const instants = new Instants();
  while (cursor < head && !fold.isOver && !isGone()) {
    const rows: readonly Row[] = await ports.log.read({ contextId, afterCursor: cursor, isForTasks: true, ...PAGE });
    for (const row of rows) {
      if (row.cursor > head || fold.isOver) break;
      cursor = row.cursor;
      if (shownKind(filter, row) !== null) fold.take(taskEventOf(row, instants.textOf(row.at)));
    }
    if (rows.length === 0 || (rows.at(-1)?.cursor ?? 0) >= head) break;
  }
  return { state: fold.state, messages: fold.messages, cursor, last: fold.last };
}

class HistoryFold {
  readonly state: RunState;
  readonly messages = new MessageFold(LIMITS);
  last: TaskEvent | null = null;
  readonly #after: number;
  /** The roots of the subtasks that were read. */
  readonly #roots = new Map<string, string>();
  /** Other open tasks of the conversation. */
  readonly #others = new Map<string, RunState>();

  constructor({ run, after }: HistoryRange) {
    this.state = newRunState(run);
    this.#after = after;
  }

  /** The run that is shown has ended. */
  get isOver(): boolean {
    return this.state.end !== null;
  }

  take(event: TaskEvent): void {
    const root = this.#rootOf(event);
    const isOwn = root === this.state.run.taskId;
    const state = isOwn ? this.state : this.#other(root);
    if (isOwn) this.last = event;
    if (event.kind === 'task-created' && event.taskId === root) this.#said(event.metadata?.message, root);
    for (const shown of take(state, event, isOwn && event.cursor > this.#after)) this.#show(shown);
    if (!isOwn && state.end !== null) this.#others.delete(root);
  }

  /**
   * The root task of a task. What is read may begin in the middle of a tree: then the first parent that it names counts,
   * unless the filter of the run takes the task for one of its own.
   */
  #rootOf({ taskId, parentTaskId }: TaskEvent): string {
    const { run } = this.state;
    if (parentTaskId === undefined) return taskId;
    if (isBelowRun(taskId, run.taskId)) return run.taskId;
    const root = this.#roots.get(parentTaskId) ?? parentTaskId;
    this.#roots.set(taskId, root);
    return root;
  }

  #said(message: { readonly content: string } | undefined, root: string): void {
    if (message !== undefined) this.messages.said(`${root}:message`, withoutContext(message.content));
  }

  #show(event: AguiEvent): void {
    this.messages.take(event);
  }

  #other(taskId: string): RunState {
    const known = this.#others.get(taskId);
    if (known !== undefined) return known;
    const state = newRunState({ ...this.state.run, taskId });
    this.#others.set(taskId, state);
    return state;
  }
}

/** The cursor before the oldest row that is read. */
async function startOf(
  { log, contexts }: HistoryPorts,
  { contextId, run, head, withMessages }: HistoryRange,
): Promise<number> {
  if (!withMessages) return cursorBefore(log, run.taskId as RunId, MAX_ROWS);
  let left = MAX_ROWS;
  let tasks = 0;
  let start = head;
  let cursor: string | undefined;
  do {
    const page = await contexts.runs({ contextId, parentRunId: null, limit: MAX_TASKS, cursor });
    for (const record of page.runs) {
      if (left <= 0 || tasks === MAX_TASKS) return start;
      if (isEdit(record)) {
        left -= EDIT_ROWS;
        continue;
      }
      const { runId } = record;
      start = Math.min(start, await cursorBefore(log, runId, left));
      left -= ((await log.head(runId))?.seq ?? 0) + 1;
      tasks += 1;
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return start;
}
