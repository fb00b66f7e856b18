/** Sends a message, and follows its task to the end. */
import { isWaitSaid, type MessageAccepted, newTaskWait, type TaskEvent, TerminalError } from '@cairn/protocol';
import { type ChangeOptions, change, query } from '../calls.ts';
import type { Wire } from '../client.ts';
import { type ClientTools, sentTools } from './client-tools.ts';
import { type ContextAddress, type ContextEvent, followContext } from './follow-context.ts';

export interface SendOptions extends ChangeOptions {
  /** Who answers. Default: the agent that answered last in the context, else the default agent of the host. */
  readonly agentId?: string;
  /** While another task of the context is open: wait for it (the default), fail with `conflict`, or cancel it first. */
  readonly ifBusy?: 'queue' | 'reject' | 'cancel';
  /** A root task of the context that has ended and that this message does again. The agent does not hear it then. */
  readonly retryOf?: string;
  /** Ends the events also when the task waits for somebody and has said what for. */
  readonly closeOn?: 'waiting';
  /** Tools that this program executes. Iterate the message: their calls are run and answered meanwhile. */
  readonly tools?: ClientTools;
  /** Maximum time without data while the events are read. Default 60,000. */
  readonly silenceMs?: number;
}

/**
 * Resolves when the message is durable, with the ids of its task. Iterated, gives the events of the task and the tasks
 * below it until it ends. The message is sent at once, also when nobody iterates.
 */
export type SentMessage = Promise<MessageAccepted> & AsyncIterable<TaskEvent>;

/** A null path starts a new context. */
export function postMessage(
  { connection }: Wire,
  path: string | null,
  { content, options }: { readonly content: string; readonly options: SendOptions },
): Promise<MessageAccepted> {
  const { agentId, ifBusy, tools, retryOf } = options;
  return change(
    connection,
    {
      path: `${path ?? '/api'}/messages${query({ ifBusy })}`,
      body: { message: { role: 'user', content }, agentId, tools: sentTools(tools), retryOf },
      headers: { prefer: 'respond-async' },
    },
    options,
  );
}

/** The events of the task, and when its reader is up to date. */
export async function* taskEvents(
  wire: Wire,
  address: ContextAddress,
  { taskId, cursor }: MessageAccepted,
  { closeOn, signal, silenceMs }: SendOptions,
): AsyncGenerator<Exclude<ContextEvent, { readonly kind: 'stream:reset' }>, void, undefined> {
  const events = followContext(wire, address, {
    after: Math.max(0, cursor - 1),
    taskId,
    subtree: true,
    ...(signal && { signal }),
    ...(silenceMs !== undefined && { silenceMs }),
  });
  const wait = newTaskWait();
  for await (const event of events) {
    if (event.kind === 'stream:reset') throw restored(taskId);
    yield event;
    if (event.kind === 'stream:caught-up' || event.taskId !== taskId) continue;
    if (isEnd(event) || (closeOn === 'waiting' && isWaitSaid(wait, event))) return;
  }
}

const isEnd = (event: TaskEvent): boolean =>
  event.kind === 'task-complete' ||
  (event.kind === 'task-status' && (event.status === 'failed' || event.status === 'canceled'));

const restored = (taskId: string): TerminalError =>
  new TerminalError('conflict', {
    message: `The log of the host no longer has all events of ${taskId}; it was restored from a backup.`,
    hint: 'Read the tasks of the context, and follow it again.',
  });
