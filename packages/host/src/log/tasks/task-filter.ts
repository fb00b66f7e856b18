/**
 * Which task events a reader sees. The one function that live streams, replays and pages use, so that none of them shows
 * what another hides. It decides by the columns of a face.
 */
import {
  isBelowRun,
  runAbove,
  type TaskEventKind,
  type ThoughtType,
  type Verbosity,
  verbosityLevels,
} from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';
import { confidenceOf, isForOperators, isOfSubtask, kindOf, thoughtTypeOf, verbosityOf } from './face-columns.ts';

export interface TaskFilter {
  /** Only these kinds. Null for all. */
  readonly kinds: ReadonlySet<TaskEventKind> | null;
  readonly excludeKinds: ReadonlySet<TaskEventKind>;
  /** Only this task, with `subtree` also those below it. Null for all. */
  readonly taskId: string | null;
  readonly subtree: boolean;
  /** Whether events of subtasks are shown. Questions of subtasks always are: they may be for the user. */
  readonly subtasks: boolean;
  readonly thoughtTypes: ReadonlySet<ThoughtType> | null;
  /** The most detailed level of thoughts. */
  readonly verbosity: Verbosity;
  /** In thousandths. Thoughts without a confidence pass. */
  readonly minConfidence: number | null;
  /** Shows what is for operators. Only for a caller with that scope who asked for it. */
  readonly debug: boolean;
}

/** How a stream shows what a filter lets pass. */
export interface TaskStreamFilter extends TaskFilter {
  /** Says the same with fewer events to a client that is behind. */
  readonly coalesce: boolean;
}

export const everyTaskEvent: TaskFilter = {
  kinds: null,
  excludeKinds: new Set(),
  taskId: null,
  subtree: false,
  subtasks: true,
  thoughtTypes: null,
  verbosity: 'normal',
  minConfidence: null,
  debug: false,
};

/** The kind under which a row is shown; null when it is hidden. */
export function shownKind(
  filter: TaskFilter,
  { face, runId, type }: Pick<Row, 'face' | 'runId' | 'type'>,
): TaskEventKind | null {
  const kind = kindOf(face);
  if (kind === null || (isForOperators(face) && !filter.debug)) return null;
  if ((filter.kinds !== null && !filter.kinds.has(kind)) || filter.excludeKinds.has(kind)) return null;
  if (filter.taskId !== null && !isTask(runId, filter.taskId, filter.subtree)) return null;
  if (!filter.subtasks && parentOf({ face, runId }) !== null && !isQuestion(kind, type)) return null;
  return kind !== 'thought-stream' || isThoughtShown(filter, face) ? kind : null;
}

/** Whether an operator who asked for everything sees a row that is no task event, as it is in the log. */
export function isRawShown({ debug, kinds, taskId, subtree, subtasks }: TaskFilter, row: Pick<Row, 'face' | 'runId'>) {
  if (!debug || kinds !== null || kindOf(row.face) !== null) return false;
  if (taskId !== null && !isTask(row.runId, taskId, subtree)) return false;
  return subtasks || runAbove(row.runId) === null;
}

const isTask = (runId: string, taskId: string, subtree: boolean): boolean =>
  runId === taskId || (subtree && isBelowRun(runId, taskId));

/** The task that a subtask belongs to. A fork of a subtask is in a context of its own and has none. */
export const parentOf = ({ face, runId }: Pick<Row, 'face' | 'runId'>): string | null =>
  isOfSubtask(face) ? runAbove(runId) : null;

/** Whether the row opens, forwards or closes a question. The answer to a refused or expired sign-in is an error. */
const isQuestion = (kind: TaskEventKind, type: string): boolean =>
  asksSomebody.has(kind) || (kind === 'error' && type === 'interrupt.resolved');

const asksSomebody: ReadonlySet<TaskEventKind> = new Set<TaskEventKind>([
  'input-required',
  'input-received',
  'input-forwarded',
  'auth-required',
  'auth-completed',
]);

function isThoughtShown({ thoughtTypes, verbosity, minConfidence }: TaskFilter, face: number): boolean {
  const level = verbosityOf(face);
  if (level !== null && verbosityLevels.indexOf(level) > verbosityLevels.indexOf(verbosity)) return false;
  const type = thoughtTypeOf(face);
  if (thoughtTypes !== null && (type === null || !thoughtTypes.has(type))) return false;
  const confidence = confidenceOf(face);
  return minConfidence === null || confidence === null || confidence >= minConfidence;
}
