/** Requests and answers of conversations: messages, pages of events, tasks, inputs. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { taskStatuses } from '../events/cairn.ts';
import { json } from '../fields.ts';
import { MAX_ID_LENGTH } from '../ids.ts';
import { clientTool, MAX_CLIENT_TOOLS } from './client-tools.ts';
import { errorInfoShape } from './envelope.ts';
import { taskEvent } from './task-event.ts';

const id = z.string().min(1).max(MAX_ID_LENGTH);

/** Longest text of a message, in UTF-16 units. */
const MAX_MESSAGE_LENGTH = 131_072;

export const sendMessage = z
  .strictObject({
    message: z.strictObject({
      role: z.literal('user').default('user'),
      content: z.string().min(1).max(MAX_MESSAGE_LENGTH),
    }),
    contextId: id.optional().describe('A context of the tenant. Absent: a new one.'),
    agentId: z
      .string()
      .min(3)
      .max(256)
      .optional()
      .describe(
        'Who answers. Absent: the agent that answered last in the context, else the default agent of the host.',
      ),
    tools: z
      .array(clientTool)
      .max(MAX_CLIENT_TOOLS)
      .optional()
      .describe('Tools that the sender executes. The agent must allow `client:*` or their ids.'),
    retryOf: id
      .optional()
      .describe('A root task of the context that has ended and that this one does again. Agents do not hear it then.'),
  })
  .meta({ id: 'SendMessage' });

export type SendMessage = DataOf<typeof sendMessage>;

export const messageAccepted = z
  .object({ contextId: id, taskId: id, cursor: z.int().min(0) })
  .meta({ id: 'MessageAccepted' });

export type MessageAccepted = DataOf<typeof messageAccepted>;

/** `POST /api/contexts/{contextId}/fork` (closed), and its answer. */
export const forkContext = z
  .strictObject({ before: id.describe('A root task of the context. The tasks before it are shared.') })
  .meta({ id: 'ForkContext' });
export const contextForked = z
  .object({ contextId: id, tasks: z.int().min(1).describe('How many tasks it shares.') })
  .meta({ id: 'ContextForked' });

export type ForkContext = DataOf<typeof forkContext>;
export type ContextForked = DataOf<typeof contextForked>;

export const taskEventPage = z
  .object({
    events: z.array(taskEvent),
    next: z.int().min(0).describe('Where to go on: the `after` of the next request.'),
    head: z.int().min(0).describe('The newest position. Equal to `next` when nothing is left.'),
    reset: z
      .object({ reason: z.string(), oldest: z.int().min(0), head: z.int().min(0) })
      .optional()
      .describe('Read the tasks again: `after` is ahead of the log, or the events after it were purged.'),
  })
  .meta({ id: 'TaskEventPage' });

export type TaskEventPage = DataOf<typeof taskEventPage>;

const pendingWait = z.object({ type: z.enum(['input', 'auth', 'subtask']), id: z.string() });

export const contextTask = z
  .object({
    taskId: id,
    parentTaskId: id.optional(),
    agentId: z.string(),
    status: z.enum([...taskStatuses, 'queued']),
    createdAt: z.iso.datetime(),
    endedAt: z.iso.datetime().optional(),
    pending: z.array(pendingWait),
  })
  .meta({ id: 'ContextTask' });

export type ContextTask = DataOf<typeof contextTask>;

export const contextTasks = z
  .object({
    tasks: z.array(contextTask).describe('The newest first.'),
    head: z.int().min(0),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'ContextTasks' });

export type ContextTasks = DataOf<typeof contextTasks>;

export const contextTaskDetail = z
  .object({
    ...contextTask.shape,
    children: z.array(contextTask),
    result: z.looseObject({}).optional(),
    error: errorInfoShape.optional(),
  })
  .meta({ id: 'ContextTaskDetail' });

export type ContextTaskDetail = DataOf<typeof contextTaskDetail>;

export const answerInput = z
  .union(
    [
      z.strictObject({ value: json }),
      z.strictObject({ reject: z.literal(true), reason: z.string().max(2_000).optional() }),
    ],
    { error: 'must be { "value": … } or { "reject": true, "reason": "…" }' },
  )
  .meta({ id: 'AnswerInput' });

export type AnswerInput = DataOf<typeof answerInput>;

export const inputAnswered = z.object({ inputId: z.string(), taskId: id }).meta({ id: 'InputAnswered' });

export type InputAnswered = DataOf<typeof inputAnswered>;

export const completeAuth = z
  .union([
    z.strictObject({
      credential: z.string().min(1).describe('The credential as a compact JWE, encrypted to the encryptionKey.'),
    }),
    z.strictObject({ denied: z.literal(true) }),
  ])
  .meta({ id: 'CompleteAuth' });

export type CompleteAuth = DataOf<typeof completeAuth>;

export const authCompletion = z.object({ authId: z.string(), taskId: id }).meta({ id: 'AuthCompletion' });

export type AuthCompletion = DataOf<typeof authCompletion>;

export const toolCancelled = z.object({ toolCallId: z.string(), taskId: id }).meta({ id: 'ToolCancelled' });

export type ToolCancelled = DataOf<typeof toolCancelled>;

export const taskCancelled = z
  .object({ taskId: id, status: z.enum([...taskStatuses, 'queued']) })
  .meta({ id: 'TaskCancelled' });

export type TaskCancelled = DataOf<typeof taskCancelled>;
