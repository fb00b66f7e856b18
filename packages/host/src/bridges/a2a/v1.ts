/** A2A objects in the JSON of protocol version 1.0. */
import type { A2aArtifact, A2aMessage, A2aPart, A2aState, A2aStatus, A2aTask, A2aUpdate, Data } from './update.ts';

/** An update as a `StreamResponse`. */
export function v1Update(update: A2aUpdate): Data {
  switch (update.type) {
    case 'task':
      return { task: v1Task(update.task) };
    case 'status': {
      const { taskId, contextId, status, metadata } = update;
      return { statusUpdate: { taskId, contextId, status: statusOf(status), metadata } };
    }
    case 'artifact': {
      const { taskId, contextId, artifact, append, lastChunk } = update;
      return {
        artifactUpdate: {
          taskId,
          contextId,
          artifact: artifactOf(artifact),
          // Defaults are left out, as in the JSON of protocol buffers.
          ...(append && { append }),
          ...(lastChunk && { lastChunk }),
        },
      };
    }
  }
}

export const v1Task = ({ id, contextId, status, artifacts, history, metadata }: A2aTask): Data => ({
  id,
  contextId,
  status: statusOf(status),
  ...(artifacts.length > 0 && { artifacts: artifacts.map(artifactOf) }),
  ...(history.length > 0 && { history: history.map(messageOf) }),
  metadata,
});

const statusOf = ({ state, message, timestamp }: A2aStatus): Data => ({
  state: v1State(state),
  ...(message && { message: messageOf(message) }),
  timestamp,
});

export const v1State = (state: A2aState): string => `TASK_STATE_${state.toUpperCase().replace('-', '_')}`;

const messageOf = ({ messageId, contextId, taskId, role, parts, metadata }: A2aMessage): Data => ({
  messageId,
  contextId,
  taskId,
  role: role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT',
  parts: parts.map(partOf),
  ...(metadata && { metadata }),
});

const artifactOf = ({ parts, ...about }: A2aArtifact): Data => ({ ...about, parts: parts.map(partOf) });

function partOf(part: A2aPart): Data {
  if (!('bytes' in part)) return { ...part };
  const { bytes, ...about } = part;
  return { raw: bytes, ...about };
}
