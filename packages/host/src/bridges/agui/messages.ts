/** The messages that a client has after AG-UI events, for those that come late: the newest ones, as many as are allowed. */
import type { Event as AguiEvent, Message, ToolCall } from '@ag-ui/core';

/** Most messages in a snapshot, and most characters of their texts. Older messages are left out. */
export interface MessageLimits {
  readonly messages: number;
  readonly characters: number;
}

/** Folds events into messages. */
export class MessageFold {
  readonly #messages = new Map<string, Message>();
  readonly #callers = new Map<string, { readonly message: Extract<Message, { role: 'assistant' }>; call: ToolCall }>();
  readonly #limits: MessageLimits;
  #characters = 0;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  /** What a person said. */
  said(id: string, content: string): void {
    this.#put({ id, role: 'user', content });
  }

  take(event: AguiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        if (!this.#messages.has(event.messageId)) {
          this.#put({ id: event.messageId, role: 'assistant', content: '', ...ownerOf(event) });
        }
        break;
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
        this.#append(event.messageId, event.delta);
        break;
      case 'TEXT_MESSAGE_END':
        // Text that its model did not finish is no message.
        if (event.metadata?.unfinished === true) this.#drop(event.messageId);
        break;
      case 'TOOL_CALL_START':
        this.#call(event);
        break;
      case 'TOOL_CALL_ARGS': {
        const called = this.#callers.get(event.toolCallId);
        if (called !== undefined) called.call.function.arguments += event.delta;
        this.#count(event.delta.length);
        break;
      }
      case 'REASONING_MESSAGE_START':
        this.#put({ id: event.messageId, role: 'reasoning', content: '', ...ownerOf(event), ...metadataOf(event) });
        break;
      default:
        this.#whole(event);
    }
  }

  /** In the order in which they began. */
  messages(): Message[] {
    return [...this.#messages.values()];
  }

  #whole(event: AguiEvent): void {
    switch (event.type) {
      case 'TOOL_CALL_RESULT': {
        const { messageId, toolCallId, content } = event;
        this.#put({ id: messageId, role: 'tool', toolCallId, content, ...ownerOf(event), ...metadataOf(event) });
        break;
      }
      case 'ACTIVITY_SNAPSHOT': {
        const { messageId, activityType, content } = event;
        this.#put({ id: messageId, role: 'activity', activityType, content, ...ownerOf(event) });
      }
    }
  }

  #call(event: Extract<AguiEvent, { type: 'TOOL_CALL_START' }>): void {
    const { toolCallId: id, toolCallName: name, parentMessageId } = event;
    const call: ToolCall = { id, type: 'function', function: { name, arguments: '' }, ...metadataOf(event) };
    const parent = parentMessageId === undefined ? undefined : this.#messages.get(parentMessageId);
    const message =
      parent?.role === 'assistant' ? parent : { id, role: 'assistant' as const, toolCalls: [], ...ownerOf(event) };
    message.toolCalls = [...(message.toolCalls ?? []), call];
    this.#callers.set(id, { message, call });
    if (message !== parent) this.#put(message);
  }

  #append(id: string, delta: string): void {
    const message = this.#messages.get(id);
    if (message === undefined || (message.role !== 'assistant' && message.role !== 'reasoning')) return;
    message.content = (message.content ?? '') + delta;
    this.#count(delta.length);
  }

  /** A message that comes again keeps its place. */
  #put(message: Message): void {
    const before = this.#messages.get(message.id);
    this.#messages.set(message.id, message);
    this.#count(sizeOf(message) - (before === undefined ? 0 : sizeOf(before)));
  }

  #drop(id: string): void {
    const message = this.#messages.get(id);
    if (message === undefined) return;
    this.#messages.delete(id);
    this.#characters -= sizeOf(message);
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) this.#callers.delete(call.id);
  }

  #count(characters: number): void {
    this.#characters += characters;
    while (this.#messages.size > this.#limits.messages || this.#characters > this.#limits.characters) {
      const [oldest] = this.#messages.keys();
      if (oldest === undefined || this.#messages.size === 1) return;
      this.#drop(oldest);
    }
  }
}

const ownerOf = ({ subagentRunId }: { subagentRunId?: string }) =>
  subagentRunId === undefined ? {} : { subagentRunId };

const metadataOf = ({ metadata }: { metadata?: Record<string, unknown> }) =>
  metadata === undefined ? {} : { metadata };

function sizeOf(message: Message): number {
  const { content } = message;
  const text =
    typeof content === 'string' ? content.length : content === undefined ? 0 : JSON.stringify(content).length;
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return calls.reduce((sum, call) => sum + call.function.arguments.length, text);
}
