/** A state in the making: copies each collection once, however many events change it, and leaves the old state as it was. */
import type { TaskEvent } from '@cairn/protocol';
import type { ConversationState, TaskItem, TaskState } from './state.ts';

type Maps = {
  readonly [Name in TaskItem['of']]: ConversationState[Name];
};

type EntryOf<Name extends TaskItem['of']> = Maps[Name] extends ReadonlyMap<string, infer Entry> ? Entry : never;

export class Draft {
  #state: ConversationState;
  readonly #copied = new Map<string, Map<string, unknown>>();

  constructor(state: ConversationState) {
    this.#state = state;
  }

  get state(): ConversationState {
    return this.#state;
  }

  assign(changes: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...changes };
  }

  get<Name extends TaskItem['of']>(name: Name, id: string): EntryOf<Name> | undefined {
    return (this.#state[name] as ReadonlyMap<string, EntryOf<Name>>).get(id);
  }

  set<Name extends TaskItem['of']>(name: Name, id: string, entry: EntryOf<Name>): void {
    this.#own(name).set(id, entry);
  }

  delete(name: TaskItem['of'], id: string): void {
    this.#own(name).delete(id);
  }

  /** The task of an event. One that is not known yet is begun with what the event says. */
  task({ taskId, parentTaskId, agentId }: Pick<TaskEvent, 'taskId' | 'parentTaskId' | 'agentId'>): TaskState {
    const known = this.get('tasks', taskId);
    if (known === undefined) return this.#begin(taskId, parentTaskId ?? null, agentId ?? null);
    if (parentTaskId !== undefined && known.parentTaskId === null) this.#move(known, parentTaskId);
    return this.get('tasks', taskId) ?? known;
  }

  change(task: TaskState, changes: Partial<TaskState>): void {
    this.set('tasks', task.taskId, { ...task, ...changes });
  }

  /** Adds an entry that its task shows after all others, unless the task has it already. */
  show<Name extends TaskItem['of']>(event: TaskEvent, name: Name, id: string, entry: EntryOf<Name>): void {
    const isKnown = this.get(name, id) !== undefined;
    this.set(name, id, entry);
    if (isKnown) return;
    const task = this.task(event);
    this.change(task, { items: [...task.items, { of: name, id }] });
  }

  #begin(taskId: string, parentTaskId: string | null, agentId: string | null): TaskState {
    const task = { ...newTask, taskId, agentId };
    this.set('tasks', taskId, task);
    this.assign({ roots: [...this.#state.roots, taskId] });
    if (parentTaskId !== null) this.#move(task, parentTaskId);
    return this.get('tasks', taskId) ?? task;
  }

  /** A task that turns out to be below another is shown there. */
  #move(task: TaskState, parentTaskId: string): void {
    if (this.#isBelow(parentTaskId, task.taskId)) return;
    this.change(task, { parentTaskId });
    this.assign({ roots: this.#state.roots.filter((root) => root !== task.taskId) });
    const parent = this.task({ taskId: parentTaskId });
    this.change(parent, { items: [...parent.items, { of: 'tasks', id: task.taskId }] });
  }

  /** Whether a task is another or below it. A tree that is shown must have an end. */
  #isBelow(taskId: string, above: string): boolean {
    for (let id: string | null = taskId; id !== null; id = this.get('tasks', id)?.parentTaskId ?? null) {
      if (id === above) return true;
    }
    return false;
  }

  #own(name: TaskItem['of']): Map<string, unknown> {
    const known = this.#copied.get(name);
    if (known !== undefined) return known;
    const copy = new Map<string, unknown>(this.#state[name]);
    this.#copied.set(name, copy);
    this.assign({ [name]: copy });
    return copy;
  }
}

const newTask: Omit<TaskState, 'taskId'> = {
  parentTaskId: null,
  agentId: null,
  prompt: null,
  status: null,
  statusMessage: null,
  pending: [],
  isOver: false,
  result: null,
  error: null,
  problems: [],
  tokens: { input: 0, output: 0, total: 0 },
  items: [],
};
