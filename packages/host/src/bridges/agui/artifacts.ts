/** Artifacts as activities, and records as shared state. */
import { type Event as AguiEvent, EventType } from '@ag-ui/core';
import type { JsonObject, TaskEventOf } from '@cairn/protocol';
import { type RunState, stamp } from './run-state.ts';

type PieceEvent = TaskEventOf<'file-write'> | TaskEventOf<'dataset-write'>;
type ArtifactEvent = PieceEvent | TaskEventOf<'data-write'>;

const activity = (state: RunState, event: ArtifactEvent, content: JsonObject): AguiEvent => ({
  type: EventType.ACTIVITY_SNAPSHOT,
  messageId: `artifact:${event.artifactId}`,
  activityType: 'cairn.artifact',
  content,
  replace: true,
  ...stamp(state, event),
});

/** The first piece and the last one change the activity; every piece is also an event of its own, for who shows it. */
export function artifactPiece(state: RunState, event: PieceEvent): readonly AguiEvent[] {
  const { artifactId, index, complete, kind } = event;
  const known = index === 0 ? undefined : state.artifacts.get(artifactId);
  const family = kind === 'file-write' ? 'file' : 'dataset';
  const content = { ...(known?.content ?? described(event, family)), open: !complete };
  if (complete) state.artifacts.delete(artifactId);
  else state.artifacts.set(artifactId, { taskId: event.taskId, content });
  const piece: AguiEvent = { type: EventType.CUSTOM, name: `cairn.${kind}`, value: event, ...stamp(state, event) };
  return index === 0 || complete ? [activity(state, event, content), piece] : [piece];
}

function described(event: ArtifactEvent, family: string): JsonObject {
  const { artifactId, name, description, metadata } = event;
  const mimeType = event.kind === 'file-write' ? event.mimeType : undefined;
  const version = metadata?.version;
  return {
    artifactId,
    family,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
    ...(typeof version === 'number' && { version }),
  };
}

/** Records that a client gets again when it resumes. */
const MAX_RECORDS = 100;

export function record(state: RunState, event: TaskEventOf<'data-write'>): readonly AguiEvent[] {
  const { artifactId, name = artifactId } = event;
  const data = event.data as JsonObject;
  const isFirst = state.records.size === 0;
  const [oldest] = state.records.keys();
  if (!state.records.has(name) && state.records.size >= MAX_RECORDS && oldest !== undefined)
    state.records.delete(oldest);
  state.records.set(name, data);
  const shown = stamp(state, event);
  const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return [
    activity(state, event, { ...described(event, 'record'), data, open: false }),
    isFirst
      ? { ...stateSnapshot(state), ...shown }
      : { type: EventType.STATE_DELTA, delta: [{ op: 'add', path, value: data }], ...shown },
  ];
}

/** The state of the client with the records of the task by name. */
export const stateSnapshot = ({ run, records }: RunState): Extract<AguiEvent, { type: 'STATE_SNAPSHOT' }> => ({
  type: EventType.STATE_SNAPSHOT,
  snapshot: { ...run.state, ...Object.fromEntries(records) },
});
