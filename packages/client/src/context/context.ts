/** One conversation: send messages, follow what its tasks do, answer, cancel, read. */
import {
  type AuthCompletion,
  type ContextForked,
  type ContextTaskDetail,
  type ContextTasks,
  type InputAnswered,
  type Json,
  type MessageAccepted,
  type TaskCancelled,
  type TaskEventPage,
  TerminalError,
  type ToolCancelled,
} from '@cairn/protocol';
import { type CallOptions, type ChangeOptions, change, query, read, segment } from '../calls.ts';
import type { Wire } from '../client.ts';
import { type Artifacts, artifactCalls } from './artifacts.ts';
import { ToolRunner } from './client-tools.ts';
import { filterQuery, type Query, type TaskEventFilter } from './filter.ts';
import { type ContextEvent, type FollowContextOptions, followContext } from './follow-context.ts';
import { type ReadToken, tokenNow } from './read-token.ts';
import { postMessage, type SendOptions, type SentMessage, taskEvents } from './send.ts';
import { type SignInRequest, type SignInStep, signIn } from './sign-in.ts';

export interface ContextOptions {
  /**
   * A read token of the context, for a page that has neither a key nor a session. It reads events and tasks. A function is
   * called before each request, so it can renew an expired token.
   */
  readonly token?: ReadToken;
}

export interface EventPage extends TaskEventFilter {
  /** Only events after this cursor. Default 0. */
  readonly after?: number;
  readonly limit?: number;
}

export interface TaskPage {
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface Context {
  /** Null for a new context, until its first message is accepted. */
  readonly id: string | null;
  /** `await` it for the ids of its task, or iterate it for the events until the task ends. */
  send(content: string, options?: SendOptions): SentMessage;
  /**
   * The events of all tasks, until the signal says stop; reconnects by itself, never repeats or misses an event. Kinds of
   * later versions come too: ignore what you do not know.
   */
  follow(options?: FollowContextOptions): AsyncIterable<ContextEvent>;
  /** One page of the same events. Go on with `after: next` until `next` is `head`. */
  events(page?: EventPage, options?: CallOptions): Promise<TaskEventPage>;
  /** One page of tasks and subtasks, the newest first. */
  tasks(page?: TaskPage, options?: CallOptions): Promise<ContextTasks>;
  /** A task with its subtasks, and its result or error. */
  task(taskId: string, options?: CallOptions): Promise<ContextTaskDetail>;
  /** Answers an `input-required` event. */
  answer(inputId: string, value: Json, options?: ChangeOptions): Promise<InputAnswered>;
  /** Rejects a confirmation, a question or the call of a client tool. */
  reject(inputId: string, reason?: string, options?: ChangeOptions): Promise<InputAnswered>;
  /**
   * Completes an `auth-required` event: encrypts a credential and sends it, refuses, or opens the address of the service
   * (then resolves with null at once). Pass the event; with its id alone the client reads the event first, and browsers
   * may then block a window.
   */
  signIn(asked: SignInRequest | string, step: SignInStep, options?: ChangeOptions): Promise<AuthCompletion | null>;
  /** Cancels a task and every task below it. */
  cancel(taskId: string, reason?: string, options?: ChangeOptions): Promise<TaskCancelled>;
  /** A new context that shares the tasks before a root task. Send a changed message in it. */
  fork(beforeTaskId: string, options?: ChangeOptions): Promise<ContextForked>;
  /** Cancels one tool call; its task goes on. */
  cancelTool(toolCallId: string, reason?: string, options?: ChangeOptions): Promise<ToolCancelled>;
  readonly artifacts: Artifacts;
}

export function contextCalls(wire: Wire, contextId?: string, { token }: ContextOptions = {}): Context {
  const { connection } = wire;
  const place = placeOf(contextId);
  const post = async <Body>(path: string, body: unknown, options?: ChangeOptions) =>
    change<Body>(connection, { path: place.path() + path, body }, options);
  const get = async <Body>(path: string, asked: Query, options?: CallOptions) =>
    read<Body>(connection, `${place.path()}${path}${query({ ...asked, token: await tokenNow(token) })}`, options);
  return {
    get id() {
      return place.id;
    },
    send(content, options = {}) {
      const accepted = place.inTurn((path) => postMessage(wire, path, { content, options }));
      const runner = new ToolRunner(options.tools ?? {}, this);
      return Object.assign(accepted, {
        async *[Symbol.asyncIterator]() {
          const message = await accepted;
          const { failed } = runner;
          const signal = options.signal === undefined ? failed : AbortSignal.any([failed, options.signal]);
          const address = { path: place.path(), token };
          for await (const event of taskEvents(wire, address, message, { ...options, signal })) {
            runner.see(event);
            if (event.kind !== 'stream:caught-up') yield event;
          }
        },
      });
    },
    async *follow(options = {}) {
      yield* followContext(wire, { path: place.path(), token }, options);
    },
    events: ({ after, limit, ...filter } = {}, options) =>
      get('/events', { after, limit, ...filterQuery(filter) }, options),
    tasks: (page, options) => get('/tasks', { ...page }, options),
    task: (taskId, options) => get(`/tasks/${segment(taskId)}`, {}, options),
    answer: (inputId, value, options) => post(`/inputs/${segment(inputId)}`, { value }, options),
    reject: (inputId, reason, options) => post(`/inputs/${segment(inputId)}`, { reject: true, reason }, options),
    cancel: (taskId, reason, options) => post(`/tasks/${segment(taskId)}/cancel`, { reason }, options),
    fork: (before, options) => post('/fork', { before }, options),
    cancelTool: (toolCallId, reason, options) => post(`/tools/${segment(toolCallId)}/cancel`, { reason }, options),
    signIn: async (asked, step, options) => signIn({ connection, path: place.path(), token, options }, asked, step),
    artifacts: artifactCalls(wire, { path: place.path, token }),
  };
}

/** Where the context is. A new one has no place before its first message is accepted. */
function placeOf(contextId: string | undefined) {
  let id = contextId ?? null;
  /** The first message of a new context; those after it wait for it, so that all are in one context. */
  let first: Promise<unknown> | null = null;

  async function begin(post: (path: null) => Promise<MessageAccepted>): Promise<MessageAccepted> {
    const accepted = await post(null);
    id = accepted.contextId;
    return accepted;
  }

  async function inTurn(post: (path: string | null) => Promise<MessageAccepted>): Promise<MessageAccepted> {
    // A first message that fails leaves the context new for the next one.
    while (id === null && first !== null) await first.catch(() => undefined);
    if (id !== null) return post(path());
    const beginning = begin(post).finally(() => {
      first = null;
    });
    first = beginning;
    return beginning;
  }

  function path(): string {
    if (id !== null) return `/api/contexts/${segment(id)}`;
    throw new TerminalError('validation_error', {
      message: 'This context is new and has no id yet.',
      hint: 'Send a message first, and wait for it; or give the id of a context.',
    });
  }

  return {
    get id() {
      return id;
    },
    inTurn,
    path,
  };
}
