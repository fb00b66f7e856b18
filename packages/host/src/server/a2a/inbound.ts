/** Parameters of A2A methods in both versions, as one shape. What the host does not read is ignored. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import { absentOr, idParam, optionalIdParam, parsed } from './params.ts';
import type { PushParams } from './push/config.ts';
import { v1PushInMessage, v03PushInMessage } from './push/params.ts';
import { RpcError } from './rpc.ts';
import type { A2aVersion } from './versions.ts';

/** A message in neither version's form. */
export interface InboundMessage {
  readonly messageId: string;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** The texts, one after the other. */
  readonly text: string;
  readonly data: readonly JsonObject[];
  readonly metadata: JsonObject;
}

export interface SendParams {
  readonly message: InboundMessage;
  /** Answers at once, with the task as it is. */
  readonly isImmediate: boolean;
  readonly historyLength: number | undefined;
  /** Where the host tells how the task goes. */
  readonly push: PushParams | undefined;
}

/** The body is JSON already. */
const jsonObject = z.custom<JsonObject>((value) => isJsonObject(value as Json), 'must be an object');

const historyLength = absentOr(z.int().min(0));
const metadata = jsonObject.nullish().transform((value) => value ?? {});
const flag = z.boolean().nullish();

/** Messages have at most so many parts. */
const MAX_PARTS = 64;

const fields = { messageId: idParam, contextId: optionalIdParam, taskId: optionalIdParam, metadata };

const v1Message = z.object({
  ...fields,
  role: z.union([z.literal('ROLE_USER'), z.literal(1)]),
  parts: z.array(jsonObject).min(1).max(MAX_PARTS),
});

const v03Message = z.object({
  ...fields,
  role: z.literal('user'),
  parts: z.array(jsonObject).min(1).max(MAX_PARTS),
});

const v1Send = z.object({
  message: v1Message,
  configuration: z
    .object({
      returnImmediately: flag,
      historyLength,
      taskPushNotificationConfig: v1PushInMessage,
    })
    .nullish(),
});

const v03Send = z.object({
  message: v03Message,
  configuration: z.object({ blocking: flag, historyLength, pushNotificationConfig: v03PushInMessage }).nullish(),
});

export function sendParams(version: A2aVersion, params: JsonObject): SendParams {
  if (version === '1.0') {
    const { message, configuration } = parsed(v1Send, params);
    return {
      message: { ...message, ...contentOf(message.parts.map(v1Part)) },
      isImmediate: configuration?.returnImmediately === true,
      historyLength: configuration?.historyLength,
      push: configuration?.taskPushNotificationConfig ?? undefined,
    };
  }
  const { message, configuration } = parsed(v03Send, params);
  return {
    message: { ...message, ...contentOf(message.parts.map(v03Part)) },
    isImmediate: configuration?.blocking === false,
    historyLength: configuration?.historyLength,
    push: configuration?.pushNotificationConfig ?? undefined,
  };
}

type Part = { readonly text: string } | { readonly data: JsonObject };

function v1Part(part: JsonObject): Part {
  if (typeof part.text === 'string') return { text: part.text };
  if (part.data !== undefined) return { data: dataOf(part.data) };
  throw unreadable();
}

function v03Part(part: JsonObject): Part {
  if (part.kind === 'text' && typeof part.text === 'string') return { text: part.text };
  if (part.kind === 'data' && part.data !== undefined) return { data: dataOf(part.data) };
  if (part.kind === 'text' || part.kind === 'data')
    throw new RpcError('params', `A ${part.kind} part lacks its ${part.kind}.`);
  throw unreadable();
}

/** A bare value answers a question. */
const dataOf = (value: Json): JsonObject => (isJsonObject(value) ? value : { value });

const unreadable = (): RpcError =>
  new RpcError('contentType', 'A part is neither text nor data. This host reads text/plain and application/json.');

function contentOf(parts: readonly Part[]): Pick<InboundMessage, 'text' | 'data'> {
  const texts: string[] = [];
  const data: JsonObject[] = [];
  for (const part of parts) {
    if ('text' in part) texts.push(part.text);
    else data.push(part.data);
  }
  return { text: texts.join('\n'), data };
}

const taskParams = z.object({ id: idParam, historyLength });

export type TaskParams = z.infer<typeof taskParams>;

export const taskParamsOf = (params: JsonObject): TaskParams => parsed(taskParams, params);

const listParams = z.object({
  contextId: optionalIdParam,
  status: absentOr(z.string()),
  pageSize: absentOr(z.int().min(1).max(100)),
  pageToken: absentOr(z.string().max(1_000)),
  historyLength,
  includeArtifacts: flag,
});

export type ListParams = z.infer<typeof listParams>;

export const listParamsOf = (params: JsonObject): ListParams => parsed(listParams, params);
