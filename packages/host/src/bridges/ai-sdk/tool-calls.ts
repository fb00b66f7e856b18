/** Tool calls as parts of the message. Calls of subtasks show only when they need the user. */
import type { TaskEventOf } from '@cairn/protocol';
import type { UiChunk } from './chunks.ts';
import type { MessageWriter } from './message-writer.ts';

interface ToolCall {
  readonly taskId: string;
  readonly toolName: string;
  readonly input: unknown;
  isShown: boolean;
}

const CLIENT = 'client:';

export class ToolCalls {
  readonly #writer: MessageWriter;
  readonly #rootId: string;
  /** Calls without a result. */
  readonly #open = new Map<string, ToolCall>();

  constructor(writer: MessageWriter, rootId: string) {
    this.#writer = writer;
    this.#rootId = rootId;
  }

  start({ toolCallId, toolName, taskId, arguments: input }: TaskEventOf<'tool-start'>): void {
    if (this.#open.has(toolCallId)) return;
    this.#open.set(toolCallId, { taskId, toolName, input, isShown: false });
    if (taskId === this.#rootId) this.show(toolCallId);
  }

  /** Shows a call that was hidden. Returns false for a call that is not open. */
  show(toolCallId: string): boolean {
    const call = this.#open.get(toolCallId);
    if (call === undefined) return false;
    if (call.isShown) return true;
    call.isShown = true;
    const { toolName, input } = call;
    const named = { toolCallId, ...shownAs(toolName) };
    this.#writer.work({ type: 'tool-input-start', ...named }, { type: 'tool-input-available', ...named, input });
    this.#writer.opened(toolCallId);
    return true;
  }

  /** The open calls of the root task. */
  *ofRoot(): Generator<string> {
    for (const [toolCallId, { taskId }] of this.#open) if (taskId === this.#rootId) yield toolCallId;
  }

  /** Whether the page executes the call. */
  isForClient(toolCallId: string): boolean {
    return this.#open.get(toolCallId)?.toolName.startsWith(CLIENT) === true;
  }

  isShown(toolCallId: string): boolean {
    return this.#open.get(toolCallId)?.isShown === true;
  }

  complete(event: TaskEventOf<'tool-complete'>): void {
    const { toolCallId, toolName, taskId, success, result, error } = event;
    // A result without its call is not legal; the reader would refuse it.
    if (!this.#open.has(toolCallId)) this.start({ ...event, kind: 'tool-start', toolName, arguments: {} });
    if (!this.isShown(toolCallId) && taskId !== this.#rootId) this.#open.delete(toolCallId);
    else if (success) this.#close(toolCallId, { type: 'tool-output-available', toolCallId, output: result ?? null });
    else this.#close(toolCallId, { type: 'tool-output-error', toolCallId, errorText: error ?? 'The call failed.' });
  }

  /** The task is over: its calls have no result any more. */
  endOf(taskId: string): void {
    for (const [toolCallId, call] of this.#open) {
      if (call.taskId !== taskId) continue;
      const errorText = 'The task ended before the call did.';
      if (call.isShown) this.#close(toolCallId, { type: 'tool-output-error', toolCallId, errorText });
      else this.#open.delete(toolCallId);
    }
  }

  #close(toolCallId: string, chunk: UiChunk): void {
    this.#open.delete(toolCallId);
    this.#writer.add(chunk);
    this.#writer.closed(toolCallId);
  }
}

/** The page knows its own tools by name, and gets to execute them. */
const shownAs = (toolName: string) =>
  toolName.startsWith(CLIENT)
    ? { toolName: toolName.slice(CLIENT.length) }
    : { toolName, providerExecuted: true as const, dynamic: true as const };
