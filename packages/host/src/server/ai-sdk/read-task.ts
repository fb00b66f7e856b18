/** Reads what a task has shown so far: what it asks, and up to where a page that waits has read. */
import type { ContextId, RunId } from '@cairn/protocol';
import { UiMessageView } from '../../bridges/ai-sdk/ui-message-view.ts';
import { Instants } from '../../log/feed/frame.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { everyTaskEvent, shownKind, type TaskFilter } from '../../log/tasks/task-filter.ts';
import { taskEventOf } from '../../log/tasks/task-frame.ts';
import { cursorBefore, firstCursor } from '../contexts/messages.ts';

/** So few that to fold them takes about 3 ms. */
const PAGE = { limit: 125, maxBytes: 65_536, isForTasks: true } as const;

/** Rows of a task that are read at most: the newest ones, in which what it waits for was asked. */
const MAX_ROWS = 20_000;

export interface TaskPorts {
  readonly log: Pick<Store['log'], 'head' | 'read'>;
  readonly contexts: Pick<Store['contexts'], 'head'>;
}

export interface ReadTask {
  readonly view: UiMessageView;
  /** The cursor before its first event, and that of its last event. */
  readonly first: number;
  readonly last: number;
  /** Where it began to wait last; null when it never did. */
  readonly waitedAt: number | null;
}

export async function readTask({ log, contexts }: TaskPorts, contextId: ContextId, taskId: RunId): Promise<ReadTask> {
  const view = new UiMessageView({ taskId });
  const first = (await firstCursor(log, taskId)) - 1;
  const head = await contexts.head(contextId);
  const filter = taskAndBelow(taskId);
  const instants = new Instants();
  let last = first;
  let waitedAt: number | null = null;
  let cursor = Math.max(first, await cursorBefore(log, taskId, MAX_ROWS));
  while (cursor < head && !view.isOver) {
    const rows: readonly Row[] = await log.read({ contextId, afterCursor: cursor, ...PAGE });
    for (const row of rows) {
      cursor = row.cursor;
      if (shownKind(filter, row) === null) continue;
      last = cursor;
      const wasWaiting = view.isWaiting;
      view.take(taskEventOf(row, instants.textOf(row.at)));
      if (view.isWaiting && !wasWaiting) waitedAt = cursor;
    }
    if (rows.length === 0) break;
  }
  return { view, first, last, waitedAt };
}

export const taskAndBelow = (taskId: string): TaskFilter => ({ ...everyTaskEvent, taskId, subtree: true });
