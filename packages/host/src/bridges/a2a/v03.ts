/** A2A objects in the JSON of protocol version 0.3. */
import type { A2aArtifact, A2aMessage, A2aPart, A2aStatus, A2aTask, A2aUpdate, Data } from './update.ts';

/** An update as the result of a streamed response. */
export function v03Update(update: A2aUpdate): Data {
  switch (update.type) {
    case 'task':
      return v03Task(update.task);
    case 'status': {
      const { taskId, contextId, status, isFinal, metadata } = update;
      return { kind: 'status-update', taskId, contextId, status: statusOf(status), final: isFinal, metadata };
    }
    case 'artifact': {
      const { taskId, contextId, artifact, append, lastChunk } = update;
      return { kind: 'artifact-update', taskId, contextId, artifact: artifactOf(artifact), append, lastChunk };
    }
  }
}

export const v03Task = ({ id, contextId, status, artifacts, history, metadata }: A2aTask): Data => ({
  kind: 'task',
  id,
  contextId,
  status: statusOf(status),
  ...(artifacts.length > 0 && { artifacts: artifacts.map(artifactOf) }),
  ...(history.length > 0 && { history: history.map(messageOf) }),
  metadata,
});

const statusOf = ({ message, ...status }: A2aStatus): Data => ({
  ...status,
  ...(message && { message: messageOf(message) }),
});

const messageOf = ({ parts, ...message }: A2aMessage): Data => ({
  kind: 'message',
  ...message,
  parts: parts.map(partOf),
});

const artifactOf = ({ parts, ...about }: A2aArtifact): Data => ({ ...about, parts: parts.map(partOf) });

/** Text and data have neither a name nor a type in this version. */
function partOf(part: A2aPart): Data {
  const { metadata, filename: name, mediaType: mimeType } = part;
  const more = metadata && { metadata };
  if ('text' in part) return { kind: 'text', text: part.text, ...more };
  if ('data' in part) return { kind: 'data', data: part.data, ...more };
  const about = { ...(name !== undefined && { name }), ...(mimeType !== undefined && { mimeType }) };
  const file = 'bytes' in part ? { bytes: part.bytes, ...about } : { uri: part.url, ...about };
  return { kind: 'file', file, ...more };
}
