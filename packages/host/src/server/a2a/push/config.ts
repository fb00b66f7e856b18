/** What a peer asked to be told of a task, and where. Token and credentials are stored sealed, and never shown. */
import type { ContextId, RunId } from '@cairn/protocol';
import { z } from 'zod';
import type { RunRecord } from '../../../log/ports/run-index.ts';
import type { SubscriptionRecord } from '../../../log/ports/subscriptions.ts';
import type { Keys } from '../../secrets/host-secret.ts';
import { seal, unseal } from '../../secrets/sealed.ts';
import { type A2aVersion, a2aVersions } from '../versions.ts';

/** The kind of these subscriptions in the store. */
export const PUSH = 'a2a-push';

/** As a peer gives it, in neither version's form. */
export interface PushParams {
  /** Undefined: the id of the task. */
  readonly id: string | undefined;
  readonly url: string;
  readonly token: string | undefined;
  readonly authentication: { readonly scheme: string; readonly credentials: string } | undefined;
}

const bodyShape = z.object({
  configId: z.string(),
  taskId: z.string(),
  contextId: z.string(),
  url: z.string(),
  /** The version that set it: its notifications have this form. */
  version: z.enum(a2aVersions),
  /** Shown, unlike the credentials. */
  scheme: z.string().nullable(),
  /** The headers that prove to the receiver who sends. */
  sealedHeaders: z.string(),
});

export type PushConfig = Readonly<z.infer<typeof bodyShape>> & {
  readonly taskId: RunId;
  readonly contextId: ContextId;
};

/** How far the notifications of a configuration got. */
export interface PushState {
  /** Updates of the status that the receiver knows of. -1 before the first notification. */
  readonly sent: number;
  /** Failed attempts since the last success. */
  readonly attempts: number;
}

const stateShape = z.object({ sent: z.int(), attempts: z.int() });

export const parsePushState = (text: string): PushState => stateShape.parse(JSON.parse(text));

export const parsePushConfig = ({ body }: SubscriptionRecord): PushConfig => {
  const { taskId, contextId, ...config } = bodyShape.parse(JSON.parse(body));
  return { ...config, taskId: taskId as RunId, contextId: contextId as ContextId };
};

export const pushRecordId = (taskId: RunId, configId: string): string => `${PUSH}:${taskId}:${configId}`;

export interface NewPush {
  readonly task: Pick<RunRecord, 'runId' | 'contextId' | 'tenant'>;
  readonly version: A2aVersion;
  readonly params: PushParams;
  /** Updates of the status before this one are not told. */
  readonly sent: number;
}

export function newPushRecord(keys: Keys, { task, version, params, sent }: NewPush): SubscriptionRecord {
  const { id: configId = task.runId, url, token, authentication } = params;
  const id = pushRecordId(task.runId, configId);
  const headers = {
    ...(token !== undefined && { 'x-a2a-notification-token': token }),
    ...(authentication !== undefined && { authorization: `${authentication.scheme} ${authentication.credentials}` }),
  };
  const body: z.infer<typeof bodyShape> = {
    configId,
    taskId: task.runId,
    contextId: task.contextId,
    url,
    version,
    scheme: authentication?.scheme ?? null,
    sealedHeaders: seal(keys, id, JSON.stringify(headers)),
  };
  const state: PushState = { sent, attempts: 0 };
  return { id, tenant: task.tenant, kind: PUSH, body: JSON.stringify(body), state: JSON.stringify(state) };
}

const headersShape = z.record(z.string(), z.string());

export const secretHeaders = (keys: Keys, { taskId, configId, sealedHeaders }: PushConfig): Record<string, string> =>
  headersShape.parse(JSON.parse(unseal(keys, pushRecordId(taskId, configId), sealedHeaders)));
