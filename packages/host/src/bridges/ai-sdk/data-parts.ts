/** Task events that the protocol has no part for, as data parts. */
import type { TaskEvent, TaskEventOf } from '@cairn/protocol';
import type { DataChunk, DataName } from './chunks.ts';

export const dataPart = (name: DataName, id: string, data: object): DataChunk => ({ type: `data-${name}`, id, data });

/** Told once and not kept: the message is no record of it. */
export const notice = (name: DataName, data: object): DataChunk => ({ type: `data-${name}`, data, transient: true });

export const progress = ({ toolCallId, progress: share, message, metadata }: TaskEventOf<'tool-progress'>): DataChunk =>
  dataPart('progress', toolCallId, {
    toolCallId,
    progress: share,
    ...(message !== undefined && { message }),
    ...(metadata !== undefined && { metadata }),
  });

/** Without the envelope, which says nothing to the page. */
export function signIn({ kind, ...event }: TaskEventOf<'auth-required'>): DataChunk {
  const { contextId, timestamp, cursor, eventId, parentTaskId, path, ...asked } = event;
  return dataPart('sign-in', event.authId, { ...asked, status: 'open' });
}

export const signInEnded = (authId: string, status: 'completed' | 'failed' | 'closed', more: object = {}): DataChunk =>
  dataPart('sign-in', authId, { authId, status, ...more });

export const problem = (event: TaskEventOf<'error'>): DataChunk => {
  const { taskId, code, message, retryable, scope, refId, attempt, retryAfterMs } = event;
  return dataPart('problem', event.eventId, {
    taskId,
    code,
    message,
    retryable,
    scope,
    ...(refId !== undefined && { refId }),
    ...(attempt !== undefined && { attempt }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
};

type ArtifactEvent = TaskEventOf<'file-write' | 'data-write' | 'dataset-write'>;

export const isArtifactEvent = (event: TaskEvent): event is ArtifactEvent =>
  event.kind === 'file-write' || event.kind === 'data-write' || event.kind === 'dataset-write';

export interface ArtifactPart {
  readonly artifactId: string;
  readonly family: 'file' | 'data' | 'dataset';
  readonly name: string | null;
  readonly mediaType: string;
  readonly version: number | null;
  readonly open: boolean;
  readonly taskId: string;
  /** Where its content is. */
  readonly url: string;
}

const families = { 'file-write': 'file', 'data-write': 'data', 'dataset-write': 'dataset' } as const;

/** An artifact as the page knows it now. Its content is at its address: a message that holds it would be sent with each request. */
export function artifactPart(event: ArtifactEvent, before: ArtifactPart | undefined): ArtifactPart {
  const { artifactId, contextId, taskId, name, metadata } = event;
  const isFirst = event.kind === 'data-write' || event.index === 0;
  const version = metadata?.version;
  const known = isFirst ? undefined : before;
  const said = event.kind === 'file-write' ? event.mimeType : undefined;
  const number = typeof version === 'number' ? version : (known?.version ?? null);
  const path = `/api/contexts/${encodeURIComponent(contextId)}/artifacts/${encodeURIComponent(artifactId)}`;
  return {
    artifactId,
    family: families[event.kind],
    name: name ?? before?.name ?? null,
    mediaType: said ?? known?.mediaType ?? (event.kind === 'file-write' ? 'text/plain' : 'application/json'),
    version: number,
    open: event.kind !== 'data-write' && !event.complete,
    taskId,
    url: number === null ? path : `${path}?version=${number}`,
  };
}
