/** A state in the making. The state that it began with stays as it was. */
import type { TaskEvent } from '@cairn/protocol';
import { isOpen, MAX_ENTRIES, MAX_ITEMS } from './bounds.ts';
import type { OrderedMap } from './ordered-map.ts';
import type { ConversationState, TaskItem, TaskState } from './state.ts';

type Collection = TaskItem['of'];
type EntryOf<Name extends Collection> = ConversationState[Name] extends OrderedMap<infer Entry> ? Entry : never;

export class Draft {
  #state: ConversationState;
  #isCopy = false;

  constructor(state: ConversationState) {
    this.#state = state;
  }

  get state(): ConversationState {
    return this.#state;
  }

  assign(changes: Partial<ConversationState>): void {
    if (this.#isCopy) Object.assign(this.#state, changes);
    else this.#state = { ...this.#state, ...changes };
    this.#isCopy = true;
  }

  get<Name extends Collection>(name: Name, id: string): EntryOf<Name> | undefined {
    return this.#map(name).get(id);
  }

  set<Name extends Collection>(name: Name, id: string, entry: EntryOf<Name>): void {
    this.assign({ [name]: this.#map(name).with(id, entry) });
  }

  delete(name: Collection, id: string): void {
    this.assign({ [name]: this.#map(name).without(id) });
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

  /** A task waits for one thing less. A status that stays the same is not told again. */
  settle(taskId: string, id: string): void {
    const task = this.get('tasks', taskId);
    if (task?.pending.some((wait) => wait.id === id) !== true) return;
    this.change(task, { pending: task.pending.filter((wait) => wait.id !== id) });
  }

  /** Adds an entry that its task shows after all others, unless the task has it already. */
  show<Name extends Collection>(event: TaskEvent, name: Name, id: string, entry: EntryOf<Name>): void {
    const isKnown = this.get(name, id) !== undefined;
    this.set(name, id, entry);
    if (!isKnown) this.list(this.task(event), { of: name, id });
  }

  /** A task shows one thing more. */
  list(task: TaskState, item: TaskItem): void {
    const items = task.items.length < MAX_ITEMS ? task.items : this.#roomIn(task);
    this.change(this.get('tasks', task.taskId) ?? task, { items: [...items, item] });
    this.#bound();
  }

  /** The oldest that nobody waits for make place: many at once, so that it is seldom. */
  #roomIn({ taskId, items }: TaskState): readonly TaskItem[] {
    const dropped = new Set<TaskItem>();
    for (const item of items) {
      if (dropped.size >= MAX_ITEMS / 10) break;
      if (!isOpen(this.#state, item)) dropped.add(item);
    }
    for (const item of dropped) this.#drop(taskId, item);
    return items.filter((item) => !dropped.has(item));
  }

  #begin(taskId: string, parentTaskId: string | null, agentId: string | null): TaskState {
    const task = { ...newTask, taskId, agentId };
    this.set('tasks', taskId, task);
    if (parentTaskId === null || parentTaskId === taskId) this.assign({ roots: [...this.#state.roots, taskId] });
    else this.#place(task, parentTaskId);
    return this.get('tasks', taskId) ?? task;
  }

  /** A task that turns out to be below another is shown there. */
  #move(task: TaskState, parentTaskId: string): void {
    if (this.#isBelow(parentTaskId, task.taskId)) return;
    this.assign({ roots: this.#state.roots.filter((root) => root !== task.taskId) });
    this.#place(task, parentTaskId);
  }

  #place(task: TaskState, parentTaskId: string): void {
    this.change(task, { parentTaskId });
    this.list(this.task({ taskId: parentTaskId }), { of: 'tasks', id: task.taskId });
  }

  /** Whether a task is another or below it. A tree that is shown must have an end. */
  #isBelow(taskId: string, above: string): boolean {
    for (let id: string | null = taskId; id !== null; id = this.get('tasks', id)?.parentTaskId ?? null) {
      if (id === above) return true;
    }
    return false;
  }

  /** The oldest tasks that are over make place, many at once. */
  #bound(): void {
    if (this.#size() <= MAX_ENTRIES) return;
    const { roots } = this.#state;
    const kept = roots.filter((id) => {
      if (this.#size() <= MAX_ENTRIES * 0.9 || this.get('tasks', id)?.isOver !== true) return true;
      this.#drop(id, { of: 'tasks', id });
      return false;
    });
    if (kept.length < roots.length) this.assign({ roots: kept });
  }

  #size(): number {
    const { tasks, messages, tools, thoughts, questions, signIns, artifacts } = this.#state;
    const sizes = [tasks, messages, tools, thoughts, questions, signIns, artifacts].map(({ size }) => size);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  #drop(taskId: string, { of, id }: TaskItem): void {
    this.assign({ isTrimmed: true });
    if (of === 'tasks') for (const item of this.get('tasks', id)?.items ?? []) this.#drop(id, item);
    // An artifact stays with the task that wrote it last.
    const artifact = of === 'artifacts' ? this.get('artifacts', id) : undefined;
    if (artifact !== undefined && (artifact.open ?? artifact.current)?.taskId !== taskId) return;
    this.delete(of, id);
  }

  #map<Name extends Collection>(name: Name): OrderedMap<EntryOf<Name>> {
    return this.#state[name] as OrderedMap<EntryOf<Name>>;
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
  openMessages: [],
  items: [],
};
