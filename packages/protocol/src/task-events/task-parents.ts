/** Which tasks are below which, from the fields that their events carry. */

/**
 * The parent of each subtask that a fold has seen. A fold of one task gives it events of that task's tree only, so that it
 * holds an entry for each of its subtasks. An ended one keeps its entry: a detached subtask goes on after its parent.
 */
export type TaskParents = Map<string, string>;

interface PlacedTask {
  readonly taskId: string;
  readonly parentTaskId?: string | undefined;
}

/** Call it with every event: the first one of a subtask comes before those of the tasks below it. */
export function noteParent(parents: TaskParents, { taskId, parentTaskId }: PlacedTask): void {
  if (parentTaskId !== undefined) parents.set(taskId, parentTaskId);
}

/** Whether a task is below another one, at any level. Parents that name each other in a circle are below nothing. */
export function isBelowTask(parents: TaskParents, taskId: string, above: string): boolean {
  let parent = parents.get(taskId);
  for (let steps = 0; parent !== undefined && steps < parents.size; steps += 1) {
    if (parent === above) return true;
    parent = parents.get(parent);
  }
  return false;
}
