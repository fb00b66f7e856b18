/** What a peer says about a task, read from the JSON of either version. Everything in it is untrusted. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import type { A2aVersion } from '../a2a/versions.ts';
import { malformed } from './peer-error.ts';

/** The states in the spelling of version 0.3. */
const states = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'failed',
  'canceled',
  'rejected',
  'unknown',
] as const;

export type RemoteState = (typeof states)[number];

/** Nothing follows. */
export const isEnd = (state: RemoteState): boolean =>
  state === 'completed' || state === 'failed' || state === 'canceled' || state === 'rejected';

export type RemotePart =
  | { readonly text: string }
  | { readonly data: Json }
  | { readonly url: string; readonly filename?: string }
  | { readonly bytes: string; readonly filename?: string };

export interface RemoteStatus {
  readonly state: RemoteState;
  readonly parts: readonly RemotePart[];
  /** Tells two statuses of the same state apart; empty when nothing does. */
  readonly mark: string;
}

export interface RemoteArtifact {
  readonly artifactId: string;
  readonly name: string | undefined;
  readonly parts: readonly RemotePart[];
}

export type RemoteUpdate =
  | { readonly type: 'message'; readonly parts: readonly RemotePart[]; readonly metadata: JsonObject }
  | {
      readonly type: 'task';
      readonly taskId: string;
      readonly status: RemoteStatus;
      readonly artifacts: readonly RemoteArtifact[];
      /** The ids of the messages in its history. */
      readonly messageIds: readonly string[];
      readonly metadata: JsonObject;
    }
  | { readonly type: 'status'; readonly taskId: string; readonly status: RemoteStatus; readonly metadata: JsonObject }
  | {
      readonly type: 'artifact';
      readonly taskId: string;
      readonly artifact: RemoteArtifact;
      readonly append: boolean;
      readonly metadata: JsonObject;
    };

/** The body is JSON already. */
const jsonObject = z.custom<JsonObject>((value) => isJsonObject(value as Json));
const metadata = jsonObject.nullish().transform((value) => value ?? {});
const taskId = z.string().min(1).max(256);

/** Parts of one message or artifact. */
const MAX_PARTS = 1_000;
/** Artifacts of one task. */
const MAX_ARTIFACTS = 1_000;

const part = jsonObject.transform((value, context): RemotePart => {
  const read = partOf(value);
  if (read !== null) return read;
  context.addIssue({ code: 'custom', message: 'is not a part' });
  return z.NEVER;
});

/** The names of the two versions do not clash. */
function partOf({ text, data, url, raw, filename, file }: JsonObject): RemotePart | null {
  if (typeof text === 'string') return { text };
  if (data !== undefined) return { data };
  const { uri, bytes, name } = isJsonObject(file) ? file : { uri: url, bytes: raw, name: filename };
  const named = typeof name === 'string' && name !== '' ? { filename: name } : {};
  if (typeof uri === 'string') return { url: uri, ...named };
  return typeof bytes === 'string' ? { bytes, ...named } : null;
}

const parts = z.array(part).max(MAX_PARTS);
const message = z.looseObject({ messageId: z.string().max(512), parts, metadata });

const state = z.string().transform((text): RemoteState => {
  const plain = text
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return states.find((known) => known === plain) ?? 'unknown';
});

const status = z.looseObject({ state, message: message.nullish(), timestamp: z.string().max(64).nullish() }).transform(
  ({ state: now, message: said, timestamp }): RemoteStatus => ({
    state: now,
    parts: said?.parts ?? [],
    mark: [said?.messageId, timestamp].filter((text) => text != null && text !== '').join(' '),
  }),
);

const artifact = z
  .looseObject({ artifactId: z.string().min(1).max(512), name: z.string().max(512).nullish(), parts })
  .transform(
    ({ artifactId, name, parts: content }): RemoteArtifact => ({
      artifactId,
      name: name == null || name === '' ? undefined : name,
      parts: content,
    }),
  );

const task = z
  .looseObject({
    id: taskId,
    status,
    artifacts: z.array(artifact).max(MAX_ARTIFACTS).nullish(),
    history: z
      .array(z.looseObject({ messageId: z.string().nullish() }))
      .max(1_000)
      .nullish(),
    metadata,
  })
  .transform(
    ({ id, status: now, artifacts, history, metadata: more }): Extract<RemoteUpdate, { type: 'task' }> => ({
      type: 'task',
      taskId: id,
      status: now,
      artifacts: artifacts ?? [],
      messageIds: (history ?? []).flatMap(({ messageId }) => (messageId == null ? [] : [messageId])),
      metadata: more,
    }),
  );

const statusUpdate = z.looseObject({ taskId, status, metadata });
const artifactUpdate = z.looseObject({ taskId, artifact, append: z.boolean().nullish(), metadata });
const tasks = z.looseObject({ tasks: z.array(task).max(100).nullish() });

/** One update of a stream, or the result of a sent message. Throws for anything else. */
export function updateOf(peer: string, version: A2aVersion, result: Json): RemoteUpdate {
  const [kind, value] = version === '1.0' ? newKind(result) : oldKind(result);
  switch (kind) {
    case 'task':
      return parsed(peer, task, value);
    case 'message': {
      const { parts: said, metadata: more } = parsed(peer, message, value);
      return { type: 'message', parts: said, metadata: more };
    }
    case 'status': {
      const { taskId: of, status: now, metadata: more } = parsed(peer, statusUpdate, value);
      return { type: 'status', taskId: of, status: now, metadata: more };
    }
    case 'artifact': {
      const { taskId: of, artifact: given, append, metadata: more } = parsed(peer, artifactUpdate, value);
      return { type: 'artifact', taskId: of, artifact: given, append: append === true, metadata: more };
    }
    default:
      throw malformed(peer, 'it sent something that is neither a task, a message nor an update');
  }
}

type Kind = RemoteUpdate['type'] | null;

function newKind(result: Json): readonly [Kind, Json] {
  if (!isJsonObject(result)) return [null, null];
  const { task: whole, message: said, statusUpdate: moved, artifactUpdate: made } = result;
  if (whole !== undefined) return ['task', whole];
  if (said !== undefined) return ['message', said];
  if (moved !== undefined) return ['status', moved];
  return made === undefined ? [null, null] : ['artifact', made];
}

function oldKind(result: Json): readonly [Kind, Json] {
  if (!isJsonObject(result)) return [null, null];
  const { kind } = result;
  if (kind === 'task' || kind === 'message') return [kind, result];
  if (kind === 'status-update') return ['status', result];
  return [kind === 'artifact-update' ? 'artifact' : null, result];
}

export const taskOf = (peer: string, result: Json): Extract<RemoteUpdate, { type: 'task' }> =>
  parsed(peer, task, result);

export const tasksOf = (peer: string, result: Json): readonly Extract<RemoteUpdate, { type: 'task' }>[] =>
  parsed(peer, tasks, result).tasks ?? [];

function parsed<Shape extends z.ZodType>(peer: string, shape: Shape, value: Json): z.infer<Shape> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw malformed(peer, `an update is malformed at ${issue?.path.join('.') || 'its root'}`);
}
