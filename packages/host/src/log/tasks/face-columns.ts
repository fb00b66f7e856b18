/**
 * What filters ask about a task face, beside its bytes: its kind, whether it is for operators, whether its run has a
 * parent, and of a thought its level, type and confidence. One integer, so that a row gets one column and no reader
 * ever parses a face to decide whether to show it.
 */
import {
  type Audience,
  isInternalKind,
  isJsonObject,
  type Json,
  type TaskEventKind,
  type ThoughtType,
  taskEventKinds,
  thoughtTypes,
  type Verbosity,
  verbosityLevels,
} from '@cairn/protocol';

/** No face, or one of a kind that this version does not know. */
const NO_FACE = 0;

const KINDS = 63;
const OPERATOR = 1 << 6;
const SUBTASK = 1 << 7;
const LEVEL_AT = 8;
const TYPE_AT = 10;
const CONFIDENCE_AT = 14;

const kindNumbers: ReadonlyMap<string, number> = new Map(taskEventKinds.map((kind, place) => [kind, place + 1]));
const typeNumbers: ReadonlyMap<string, number> = new Map(thoughtTypes.map((type, place) => [type, place + 1]));
const levelNumbers: ReadonlyMap<string, number> = new Map(verbosityLevels.map((level, place) => [level, place + 1]));

const START = '{"kind":"';
const THOUGHT = 'thought-stream';

interface FacedRow {
  readonly audience: Audience;
  /** Whether the run has a parent. */
  readonly isSubtask: boolean;
}

/** The columns of a face, which the store keeps with it. Called once for each row that is written. */
export function faceColumns(task: string | null, { audience, isSubtask }: FacedRow): number {
  if (task === null) return NO_FACE;
  const kind = kindText(task);
  const number = kindNumbers.get(kind);
  if (number === undefined) return NO_FACE;
  const thought = kind === THOUGHT ? thoughtColumns(task) : 0;
  const isHidden = isInternalKind(kind) || (audience === 'operator' && !lifeOfSubtasks.has(kind));
  const operator = isHidden ? OPERATOR : 0;
  return number | operator | (isSubtask ? SUBTASK : 0) | thought;
}

/**
 * Clients may know what these say, though only operators see the rows behind them: the calls that start child runs, and
 * those of models. A private thought says itself that it is.
 */
const lifeOfSubtasks: ReadonlySet<string> = new Set(['subtask-created', 'task-status', 'error', 'thought-stream']);

/** Every face of this program begins with its kind; one from a bundle may not. */
const kindText = (task: string): string =>
  task.startsWith(START) ? task.slice(START.length, task.indexOf('"', START.length)) : parsedKind(task);

function parsedKind(task: string): string {
  const face = parsed(task);
  return isJsonObject(face) && typeof face.kind === 'string' ? face.kind : '';
}

function thoughtColumns(task: string): number {
  const face = parsed(task);
  if (!isJsonObject(face)) return OPERATOR;
  const { verbosity, thoughtType, visibility, metadata } = face;
  const level = levelNumbers.get(String(verbosity)) ?? NORMAL;
  const type = typeNumbers.get(String(thoughtType)) ?? REASONING;
  const confidence = isJsonObject(metadata) ? metadata.confidence : undefined;
  const sure = typeof confidence === 'number' && confidence >= 0 ? Math.round(Math.min(confidence, 1) * 1_000) + 1 : 0;
  const operator = visibility === 'operator' ? OPERATOR : 0;
  return operator | (level << LEVEL_AT) | (type << TYPE_AT) | (sure << CONFIDENCE_AT);
}

const NORMAL = verbosityLevels.indexOf('normal') + 1;
const REASONING = thoughtTypes.indexOf('reasoning') + 1;

/** A bundle of another host may hold any text here. */
function parsed(task: string): Json {
  try {
    const face: Json = JSON.parse(task);
    return face;
  } catch {
    return null;
  }
}

/** Null for a row that the task view does not show. */
export const kindOf = (face: number): TaskEventKind | null => taskEventKinds[(face & KINDS) - 1] ?? null;

export const isForOperators = (face: number): boolean => (face & OPERATOR) !== 0;

export const isOfSubtask = (face: number): boolean => (face & SUBTASK) !== 0;

/** Null for what is no thought. */
export const verbosityOf = (face: number): Verbosity | null => verbosityLevels[((face >> LEVEL_AT) & 3) - 1] ?? null;

export const thoughtTypeOf = (face: number): ThoughtType | null => thoughtTypes[((face >> TYPE_AT) & 15) - 1] ?? null;

/** In thousandths; null for a thought that says none. */
export function confidenceOf(face: number): number | null {
  const confidence = (face >> CONFIDENCE_AT) & 1_023;
  return confidence === 0 ? null : confidence - 1;
}
