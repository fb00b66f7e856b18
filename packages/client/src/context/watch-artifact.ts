/** Follows one artifact as it is written. */
import type { TaskEvent, TaskEventKind } from '@cairn/protocol';
import type { Wire } from '../client.ts';
import { reduceConversation } from './conversation/reduce.ts';
import { type ArtifactState, type ConversationState, emptyConversation } from './conversation/state.ts';
import { type ContextAddress, type ContextEvent, followContext } from './follow-context.ts';

export interface WatchArtifactOptions {
  readonly signal?: AbortSignal;
  /** Maximum time without data, not even a keepalive, before the connection counts as dead. Default 60,000. */
  readonly silenceMs?: number;
}

/** The ends of tasks too: a version whose task ends before it is complete is abandoned. */
const kinds: readonly TaskEventKind[] = ['file-write', 'data-write', 'dataset-write', 'task-status', 'task-complete'];

export async function* watchArtifact(
  wire: Wire,
  address: ContextAddress,
  artifactId: string,
  options: WatchArtifactOptions,
): AsyncGenerator<ArtifactState, void, undefined> {
  let state: ConversationState = emptyConversation;
  let shown: ArtifactState | undefined;
  for await (const event of followContext(wire, address, { ...options, after: 0, kinds })) {
    if (!concerns(event, artifactId, state)) continue;
    state = reduceConversation(state, [event]);
    const now = state.artifacts.get(artifactId);
    // The history is not shown piece by piece.
    if (!state.isCaughtUp || now === undefined || now === shown) continue;
    shown = now;
    yield now;
  }
}

function concerns(event: ContextEvent, artifactId: string, { artifacts }: ConversationState): boolean {
  if (event.kind === 'stream:caught-up' || event.kind === 'stream:reset') return true;
  if (isWrite(event)) return event.artifactId === artifactId;
  return event.taskId === artifacts.get(artifactId)?.open?.taskId;
}

const isWrite = (event: TaskEvent) =>
  event.kind === 'file-write' || event.kind === 'data-write' || event.kind === 'dataset-write';
