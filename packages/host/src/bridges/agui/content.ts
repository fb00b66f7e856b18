/** Text and thoughts as AG-UI messages. */
import { type Event as AguiEvent, EventType } from '@ag-ui/core';
import type { TaskEventOf } from '@cairn/protocol';
import { type RunState, stamp } from './run-state.ts';

/** The message of a text block. Blocks of other hosts may have no id: a task has one such block at a time. */
const messageOf = ({ contentId, taskId }: { readonly contentId?: string | undefined; readonly taskId: string }) =>
  contentId ?? `${taskId}:content`;

export function textDelta(state: RunState, event: TaskEventOf<'content-delta'>): readonly AguiEvent[] {
  const messageId = messageOf(event);
  return [
    ...textStart(state, event, messageId),
    { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: event.delta, ...stamp(state, event) },
  ];
}

/** A block that came in pieces ends; one that did not is shown whole. */
export function textComplete(state: RunState, event: TaskEventOf<'content-complete'>): readonly AguiEvent[] {
  const messageId = messageOf(event);
  const { content, finishReason, taskId } = event;
  const shown = stamp(state, event);
  const isWhole = !state.texts.has(messageId) && content !== '';
  const events: AguiEvent[] = [...textStart(state, event, messageId)];
  if (isWhole) events.push({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: content, ...shown });
  state.texts.delete(messageId);
  if (asksForTools(finishReason)) state.callers.set(taskId, messageId);
  else state.callers.delete(taskId);
  return [...events, { type: EventType.TEXT_MESSAGE_END, messageId, ...shown }];
}

const asksForTools = (finishReason: string | undefined): boolean =>
  finishReason === 'tool_calls' || finishReason === 'tool-calls';

function textStart(
  state: RunState,
  event: TaskEventOf<'content-delta'> | TaskEventOf<'content-complete'>,
  messageId: string,
): readonly AguiEvent[] {
  if (state.texts.has(messageId)) return [];
  state.texts.set(messageId, event.taskId);
  return [{ type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant', ...stamp(state, event) }];
}

/** Text that its model did not finish. AG-UI cannot take a message back, so it says which one is not to be shown. */
export function dropTexts(state: RunState, event: { taskId: string; timestamp: string }): readonly AguiEvent[] {
  const open = [...state.texts].filter(([, taskId]) => taskId === event.taskId);
  const shown = stamp(state, event);
  return open.flatMap(([messageId]): AguiEvent[] => {
    state.texts.delete(messageId);
    return [
      { type: EventType.TEXT_MESSAGE_END, messageId, metadata: { unfinished: true }, ...shown },
      { type: EventType.CUSTOM, name: 'cairn.content-dropped', value: { messageId }, ...shown },
    ];
  });
}

/** A thought is whole: a span with one message. */
export function thought(state: RunState, event: TaskEventOf<'thought-stream'>): readonly AguiEvent[] {
  const { thoughtId: messageId, thoughtType, verbosity, content, metadata } = event;
  const shown = stamp(state, event);
  return [
    { type: EventType.REASONING_START, messageId, ...shown },
    {
      type: EventType.REASONING_MESSAGE_START,
      messageId,
      role: 'reasoning',
      metadata: { ...metadata, thoughtType, verbosity },
      ...shown,
    },
    { type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta: content, ...shown },
    { type: EventType.REASONING_MESSAGE_END, messageId, ...shown },
    { type: EventType.REASONING_END, messageId, ...shown },
  ];
}
