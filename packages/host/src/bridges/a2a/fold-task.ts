/** The task as a peer has it after some updates: what `GetTask` answers, and what a late subscriber begins with. */
import type { A2aArtifact, A2aPart, A2aTask, A2aUpdate, ArtifactUpdate } from './update.ts';

export interface TaskFold {
  /** Null before the task was created. */
  task: A2aTask | null;
  readonly artifacts: Map<string, Kept>;
  /** Characters that the artifacts hold. */
  size: number;
}

interface Kept {
  readonly artifact: A2aArtifact;
  readonly size: number;
  /** It did not fit: what follows of it is not kept either. */
  readonly isLeftOut: boolean;
}

/** Characters of all artifacts in one answer. A larger one is given by its address. */
const MAX_TASK_SIZE = 1_048_576;

/** Artifacts in one answer: the first ones. Peers read no more. */
const MAX_ARTIFACTS = 1_000;

export const newTaskFold = (): TaskFold => ({ task: null, artifacts: new Map(), size: 0 });

/** Folds an update in. */
export function foldTask(fold: TaskFold, update: A2aUpdate): void {
  switch (update.type) {
    case 'task':
      fold.task = update.task;
      break;
    case 'status':
      if (fold.task !== null) fold.task = { ...fold.task, status: update.status, metadata: update.metadata };
      break;
    case 'artifact':
      foldArtifact(fold, update);
  }
}

/** The task with its artifacts. Null before it was created. */
export const foldedTask = ({ task, artifacts }: TaskFold): A2aTask | null =>
  task && { ...task, artifacts: [...artifacts.values()].map(({ artifact }) => artifact) };

function foldArtifact(fold: TaskFold, update: ArtifactUpdate): void {
  const { artifact, append } = update;
  const { artifactId } = artifact;
  const known = fold.artifacts.get(artifactId);
  if (known === undefined && fold.artifacts.size >= MAX_ARTIFACTS) return;
  const before = append ? known : undefined;
  if (before?.isLeftOut) return;
  const size = (before?.size ?? 0) + sizeOf(artifact.parts);
  const others = fold.size - (known?.size ?? 0);
  const isLeftOut = others + size > MAX_TASK_SIZE;
  const about = before === undefined ? artifact : { ...artifact, ...before.artifact };
  const parts = isLeftOut ? instead(update) : joined(before?.artifact.parts ?? [], artifact.parts);
  const kept = { artifact: { ...about, parts }, size: isLeftOut ? 0 : size, isLeftOut };
  fold.artifacts.set(artifactId, kept);
  fold.size = others + kept.size;
}

/** What stands for an artifact that does not fit. */
const instead = ({ storedAt }: ArtifactUpdate): readonly A2aPart[] =>
  storedAt === null ? [{ text: '', metadata: { truncated: true } }] : [{ url: storedAt }];

/** What a part costs beside its content. */
const PART_SIZE = 40;

const sizeOf = (parts: readonly A2aPart[]): number =>
  parts.reduce((sum, part) => sum + PART_SIZE + contentSize(part), 0);

function contentSize(part: A2aPart): number {
  if ('text' in part) return part.text.length;
  if ('bytes' in part) return part.bytes.length;
  return 'url' in part ? part.url.length : JSON.stringify(part.data).length;
}

/** Pieces of one text, or of one file, become one part. */
function joined(before: readonly A2aPart[], added: readonly A2aPart[]): readonly A2aPart[] {
  const [first, ...others] = added;
  const last = before.at(-1);
  if (first === undefined || last === undefined) return [...before, ...added];
  const one = together(last, first);
  return one === null ? [...before, ...added] : [...before.slice(0, -1), one, ...others];
}

function together(a: A2aPart, b: A2aPart): A2aPart | null {
  if ('text' in a && 'text' in b) return { ...a, text: a.text + b.text };
  // Padding ends a text of base64.
  if ('bytes' in a && 'bytes' in b && !a.bytes.endsWith('=')) return { ...a, bytes: a.bytes + b.bytes };
  return null;
}
