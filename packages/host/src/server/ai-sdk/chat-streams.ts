/** Tasks as AI SDK UI message streams, until the task ends or waits for the user. */
import type { ServerResponse } from 'node:http';
import type { ContextId, RunId } from '@cairn/protocol';
import type { UiChunk } from '../../bridges/ai-sdk/chunks.ts';
import { UiMessageView } from '../../bridges/ai-sdk/ui-message-view.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import type { Lens } from '../../log/feed/lens.ts';
import type { Chunk, Sink, Subscription } from '../../log/feed/sink.ts';
import { shownKind } from '../../log/tasks/task-filter.ts';
import { taskEventOf } from '../../log/tasks/task-frame.ts';
import type { Caller } from '../access/auth.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { taskAndBelow } from './read-task.ts';

export interface ChatStreamPorts {
  readonly feed: LiveFeed;
  readonly streams: EventStreams;
}

export interface ChatStream {
  readonly caller: Caller;
  readonly contextId: ContextId;
  readonly taskId: RunId;
  /** The cursor before the first event of the task. */
  readonly first: number;
  /** The page has the message up to this cursor. Null: it gets all of it. */
  readonly after: number | null;
  /** Questions whose answers are in the page already. */
  readonly held: ReadonlySet<string>;
}

const DONE = 'data: [DONE]\n\n';

const frame = (chunk: UiChunk): string => `data: ${JSON.stringify(chunk)}\n\n`;

/** The end of the connection is not the end of the message: without this, a page would take it for that. */
const farewell = frame({
  type: 'error',
  errorText: 'The host ended the connection before the answer was complete. Resume the stream.',
});

export class ChatStreams {
  readonly #ports: ChatStreamPorts;

  constructor(ports: ChatStreamPorts) {
    this.#ports = ports;
  }

  serve(response: ServerResponse, stream: ChatStream): void {
    const { caller, contextId, taskId, first } = stream;
    const shown = new ShownTask(stream);
    const served = { tenant: caller.tenant, expiresAt: caller.expiresAt, what: `${contextId} ${taskId}`, farewell };
    this.#ports.streams.serveFrom(response, served, (sink) => {
      const messageMetadata = { contextId, taskId };
      const text = frame({ type: 'start', messageId: taskId, messageMetadata });
      sink.write({ text, upTo: -1, urgent: true, isLast: false });
      const range = { contextId, afterCursor: first, lens: shown.lens };
      const subscription: Subscription = this.#ports.feed.subscribe(
        range,
        endingSink(sink, shown, () => subscription),
      );
      return subscription;
    });
  }
}

/** Ends the stream with the task, or when all was shown and the task waits for the user. */
function endingSink(sink: Sink, shown: ShownTask, subscription: () => Subscription): Sink {
  let isLevel = false;
  const end = (chunk: Pick<Chunk, 'text' | 'upTo'>): false => {
    sink.write({ ...chunk, text: chunk.text + shown.ending() + DONE, urgent: true, isLast: true });
    subscription().close();
    return false;
  };
  return {
    end: (fault) => sink.end(fault),
    write: (chunk) => (shown.view.isOver || (isLevel && shown.view.isWaiting) ? end(chunk) : sink.write(chunk)),
    level: () => {
      isLevel = true;
      if (shown.view.isOver || shown.view.isWaiting) end({ text: '', upTo: -1 });
    },
  };
}

/** The view of one stream. Its lens takes every row once, in order. */
class ShownTask {
  readonly view: UiMessageView;
  readonly lens: Lens;
  #cursor: number;
  #isEnded = false;

  constructor({ taskId, first, after, held }: ChatStream) {
    const view = new UiMessageView({ taskId, held });
    const filter = taskAndBelow(taskId);
    this.view = view;
    this.#cursor = first;
    this.lens = {
      key: null,
      face: 'task',
      nameOf: (_, row) => (view.isOver ? null : shownKind(filter, row)),
      render: (row, _, timestamp) => {
        this.#cursor = row.cursor;
        const chunks = view.take(taskEventOf(row, timestamp));
        // What the page has already is only folded.
        if (after !== null && row.cursor <= after) return '';
        this.#isEnded = view.isOver;
        return chunks.map(frame).join('');
      },
      separator: '',
    };
  }

  /** What the events themselves have not said. */
  ending(): string {
    if (this.#isEnded) return '';
    const finishReason = this.view.isOver ? 'stop' : 'tool-calls';
    // The page sends it back, so that its next stream goes on here.
    return frame({ type: 'finish', finishReason, messageMetadata: { cursor: this.#cursor } });
  }
}
