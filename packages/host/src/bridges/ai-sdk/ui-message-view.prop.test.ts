import { asSchema } from '@ai-sdk/provider-utils';
import { emptyConversation, reduceConversation } from '@cairn/client/context';
import type { TaskEvent } from '@cairn/protocol';
import {
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { UiChunk } from './chunks.ts';
import { ROOT, taskLog } from './task-log.kit.ts';
import { UiMessageView } from './ui-message-view.ts';

const start: UiChunk = { type: 'start', messageId: ROOT, messageMetadata: {} };

/** What the published reader makes of chunks that continue a message; fails as a page would. */
async function read(chunks: readonly UiChunk[], message?: UIMessage): Promise<UIMessage> {
  const { validate } = asSchema(uiMessageChunkSchema);
  for (const chunk of chunks) expect(await validate?.(chunk)).toMatchObject({ success: true });
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      // The reader keeps the objects that it gets.
      for (const chunk of [start, ...structuredClone([...chunks])]) controller.enqueue(chunk as UIMessageChunk);
      controller.close();
    },
  });
  const failures: string[] = [];
  let last: UIMessage = message ?? { id: ROOT, role: 'assistant', parts: [] };
  const onError = (error: unknown) => void failures.push(String(error));
  for await (const state of readUIMessageStream({ stream, onError, ...(message && { message }) })) last = state;
  const said = chunks.flatMap((chunk) => (chunk.type === 'error' ? [`Error: ${chunk.errorText}`] : []));
  expect(failures).toEqual(said);
  return last;
}

const texts = ({ parts }: UIMessage) => parts.flatMap((part) => (part.type === 'text' && part.text ? [part.text] : []));
const reasonings = ({ parts }: UIMessage) => parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));

const states = { running: null, succeeded: 'output-available', failed: 'output-error', stopped: 'output-error' };

function expectSame(events: readonly TaskEvent[], message: UIMessage): void {
  const state = reduceConversation(emptyConversation, events);
  const task = state.tasks.get(ROOT);
  const items = task?.items ?? [];
  const said = items.flatMap(({ of, id }) => {
    const found = of === 'messages' ? state.messages.get(id) : undefined;
    return found !== undefined && found.role === 'agent' && found.text !== '' ? [found.text] : [];
  });
  const isAnswered = said.length > 0 || task?.status !== 'completed' || !task.isOver;
  expect(texts(message)).toEqual(isAnswered ? said : [task?.result]);
  const thoughts = items.flatMap(({ of, id }) => (of === 'thoughts' ? [state.thoughts.get(id)?.content] : []));
  expect(reasonings(message)).toEqual(thoughts);
  const parts = new Map(message.parts.filter(isToolUIPart).map((part) => [part.toolCallId, part]));
  for (const tool of state.tools.values()) {
    const part = parts.get(tool.toolCallId);
    if (part === undefined) {
      expect(tool.taskId).not.toBe(ROOT);
      continue;
    }
    expect(`client:${getToolName(part)}`).toContain(tool.toolName?.replace('client:', ''));
    expect(part.input).toEqual(tool.arguments);
    expect(states[tool.status] ?? part.state).toBe(part.state);
    if (tool.status === 'succeeded') expect(part.output).toEqual(tool.result);
    if (tool.status === 'failed') expect(part.errorText).toBe(tool.error);
  }
  expect(parts.size).toBe(message.parts.filter(isToolUIPart).length);
}

test('the published reader takes every log, and has the texts, thoughts and tools of our own reducer', async () => {
  await fc.assert(
    fc.asyncProperty(taskLog, async (events) => {
      const view = new UiMessageView({ taskId: ROOT });
      const chunks = events.flatMap((event) => [...view.take(event)]);
      const message = await read(chunks);
      expectSame(events, message);
      if (!view.isOver) return;
      // A page that sends results by itself would otherwise do so for ever.
      expect(lastAssistantMessageIsCompleteWithToolCalls({ messages: [message] })).toBe(false);
      expect(lastAssistantMessageIsCompleteWithApprovalResponses({ messages: [message] })).toBe(false);
    }),
    { numRuns: 150 },
  );
});

test('a message that is continued after each wait is the message that is read at once', async () => {
  await fc.assert(
    fc.asyncProperty(taskLog, async (events) => {
      const view = new UiMessageView({ taskId: ROOT });
      const all: UiChunk[] = [];
      let since: UiChunk[] = [];
      let message: UIMessage | undefined;
      for (const event of events) {
        const chunks = view.take(event);
        all.push(...chunks);
        since.push(...chunks);
        if (!view.isWaiting) continue;
        message = await read(since, message);
        since = [];
      }
      expect(await read(since, message)).toEqual(await read(all));
    }),
    { numRuns: 60 },
  );
});
