/** Requests of a chat: a message begins a task, results and approvals answer a waiting one, a regeneration is a retry. */
import { type ContextId, isCairnError, parseShape, type RunId, sendMessage, TerminalError } from '@cairn/protocol';
import {
  type ChatRequest,
  continued,
  type Resolved,
  resolvedParts,
  saidLast,
} from '../../bridges/ai-sdk/chat-request.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import { requireScope } from '../access/auth.ts';
import { contextOfName } from '../contexts/client-named.ts';
import { answerOpen, type InputSurface } from '../contexts/inputs.ts';
import type { MessageSurface } from '../contexts/messages.ts';
import { startTask, type TaskMessage } from '../contexts/start-task.ts';
import type { Call } from '../http/routes.ts';
import { type ReadTask, readTask } from './read-task.ts';

export interface ChatSurface extends MessageSurface, InputSurface {
  readonly contexts: Contexts;
}

/** The stream that a request gets, as recorded under the id of its message. */
export interface Accepted {
  readonly contextId: ContextId;
  readonly taskId: RunId;
  /** See `ChatStream`. */
  readonly after: number | null;
  readonly held: readonly string[];
}

export interface ChatCall {
  readonly call: Call;
  readonly agentId: string;
  readonly request: ChatRequest;
  readonly ifBusy: TaskMessage['ifBusy'] | undefined;
}

const recorded = (accepted: Accepted): string => JSON.stringify(accepted);

export async function acceptChat(chat: ChatCall, surface: ChatSurface): Promise<string> {
  const { call, request } = chat;
  const said = saidLast(request);
  const { contextId, exists } = await contextOfName({ kind: 'chat', name: request.id }, call.caller, surface.contexts);
  const open = exists ? await openTask(contextId, surface) : null;
  const resolved = resolvedParts(request);
  const isAnswered = open !== null && (await answer(call, surface, { contextId, open, resolved }));
  if (request.trigger === 'regenerate-message') return regenerate(chat, surface, { contextId, open });
  if (said === null) return goOn(chat, surface, { contextId, exists, open, resolved });
  if (open?.read.view.isWaiting && !isAnswered && chat.ifBusy !== 'cancel') throw waits(open.taskId, open.read);
  return begin(chat, surface, { contextId, text: said.text, ifBusy: chat.ifBusy ?? 'queue' });
}

interface OpenTask {
  readonly taskId: RunId;
  readonly read: ReadTask;
}

/** The task of the chat that is at work, waits for somebody, or waits for its turn. */
export async function openTaskId(contextId: ContextId, { turns }: Pick<ChatSurface, 'turns'>): Promise<RunId | null> {
  const { active, queued } = await turns.openTasks(contextId);
  return (active ?? queued[0])?.runId ?? null;
}

async function openTask(contextId: ContextId, surface: ChatSurface): Promise<OpenTask | null> {
  const taskId = await openTaskId(contextId, surface);
  return taskId === null ? null : { taskId, read: await readTask(surface, contextId, taskId) };
}

interface Answering {
  readonly contextId: ContextId;
  readonly open: OpenTask;
  readonly resolved: ReadonlyMap<string, Resolved>;
}

/** Gives what the page has for the open questions. Returns whether it had anything. */
async function answer(call: Call, surface: ChatSurface, { contextId, open, resolved }: Answering): Promise<boolean> {
  let isAnswered = false;
  for (const { inputId, partId, by } of open.read.view.openQuestions) {
    const result = resolved.get(partId);
    if (result === undefined || result.by !== by) continue;
    requireScope(call.caller, 'approvals:respond');
    const unrecorded = { ...call, requestKey: undefined };
    try {
      await answerOpen(unrecorded, surface, { contextId, inputId, given: result.given });
    } catch (error) {
      // Another answer was first; the page sees what follows from that answer.
      if (!isCairnError(error, 'input_already_answered')) throw error;
    }
    isAnswered = true;
  }
  return isAnswered;
}

interface Beginning extends Pick<TaskMessage, 'ifBusy' | 'retryOf'> {
  readonly contextId: ContextId;
  readonly text: string;
}

async function begin(
  { call, agentId, request }: ChatCall,
  surface: ChatSurface,
  beginning: Beginning,
): Promise<string> {
  const { contextId, text, ...rest } = beginning;
  const { tools } = request;
  const message = { content: checked(text) };
  return startTask(call, surface, {
    ...rest,
    body: parseShape(sendMessage, { agentId, message, ...(tools !== undefined && { tools }) }, 'The message'),
    contextId,
    mayBeginContext: true,
    recorded: ({ runId }) => recorded({ contextId, taskId: runId, after: null, held: [] }),
  });
}

interface Retried {
  readonly contextId: ContextId;
  readonly open: OpenTask | null;
}

/** A retry of the task that the page names, or of its last message. While a task is open, the page joins that one. */
async function regenerate(chat: ChatCall, surface: ChatSurface, { contextId, open }: Retried): Promise<string> {
  const joined = ({ taskId }: OpenTask) => recorded({ contextId, taskId, after: null, held: [] });
  if (open !== null) return joined(open);
  const retried = await retriedTask(contextId, chat.request, surface);
  if (retried === null) throw nothingToRetry(chat.request.id);
  try {
    return await begin(chat, surface, { contextId, ...retried, ifBusy: 'reject' });
  } catch (error) {
    const other = isCairnError(error, 'conflict') ? await openTask(contextId, surface) : null;
    if (other === null) throw error;
    return joined(other);
  }
}

/**
 * The task to do again, and its message. A page names the message of the agent, which is the task, or that of the user, or
 * nothing; its last message is then that of the user.
 */
async function retriedTask(
  contextId: ContextId,
  request: ChatRequest,
  { contexts, loadView }: ChatSurface,
): Promise<{ readonly retryOf: RunId; readonly text: string } | null> {
  const said = saidLast(request)?.text;
  const { runs } = await contexts.runs({ contextId, parentRunId: null, limit: RECENT });
  const named = runs.find(({ runId }) => runId === request.messageId);
  for (const { runId: retryOf } of named === undefined ? runs : [named]) {
    const text = (await loadView(retryOf)).inputs?.message;
    // Edits of artifacts have no message.
    if (typeof text === 'string' && (named !== undefined || said === undefined || said === text))
      return { retryOf, text };
  }
  return null;
}

/** The root task of a message of the page; without one, or when it is not of this chat, the newest. */
async function rootTask(contextId: ContextId, messageId: string | null, surface: ChatSurface): Promise<RunId | null> {
  const { runs } = await surface.contexts.runs({ contextId, parentRunId: null, limit: RECENT });
  const named = runs.find(({ runId }) => runId === messageId) ?? runs[0];
  return named?.runId ?? null;
}

/** Root tasks of a chat that a page can name. */
const RECENT = 100;

interface GoingOn extends Omit<Answering, 'open'> {
  readonly exists: boolean;
  readonly open: OpenTask | null;
}

/** The rest of a message that the page has up to where the task waited. */
async function goOn({ request }: ChatCall, surface: ChatSurface, going: GoingOn): Promise<string> {
  const { contextId, exists, open, resolved } = going;
  const message = continued(request);
  if (message === null || !exists) throw noMessage();
  const taskId = open?.taskId ?? (await rootTask(contextId, message.id, surface));
  if (taskId === null) throw noMessage();
  const { first, last, waitedAt } = open?.read ?? (await readTask(surface, contextId, taskId));
  const isOfTask = message.id === taskId && message.cursor >= first && message.cursor <= last;
  const after = isOfTask ? message.cursor : (waitedAt ?? last);
  return recorded({ contextId, taskId, after, held: [...resolved.keys()] });
}

function checked(text: string): string {
  if (text !== '') return text;
  throw new TerminalError('validation_error', {
    message: 'The last message of the user has no text.',
    hint: 'Send a message with a text part.',
    details: { field: 'messages' },
  });
}

const noMessage = (): TerminalError =>
  new TerminalError('validation_error', {
    message: 'The chat does not end with a message of the user, and no task of this chat goes on.',
    hint: 'Send the message of the user last.',
    details: { field: 'messages' },
  });

const nothingToRetry = (chatId: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `The chat ${JSON.stringify(chatId.slice(0, 60))} has no answer to regenerate.`,
    hint: 'Send a message first, with the trigger submit-message.',
    details: { field: 'trigger' },
  });

const waits = (taskId: RunId, { view }: ReadTask): TerminalError =>
  new TerminalError('conflict', {
    message: `The task ${taskId} of this chat waits for an answer of the user.`,
    hint: 'Answer its question first (addToolOutput, addToolApprovalResponse), or add ?ifBusy=cancel to the address.',
    details: { taskId, pending: view.openQuestions.map(({ inputId }) => inputId) },
  });
