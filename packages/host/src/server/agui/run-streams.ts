/** AG-UI runs as SSE: what was before, then what happens, until the task ends or waits for the user. */
import type { ServerResponse } from 'node:http';
import { type Event as AguiEvent, EventType } from '@ag-ui/core';
import type { ContextId, TaskEvent } from '@cairn/protocol';
import { withKnown } from '../../bridges/agui/known-messages.ts';
import type { RunInput } from '../../bridges/agui/run-input.ts';
import type { RunState, ShownRun } from '../../bridges/agui/run-state.ts';
import { waiting } from '../../bridges/agui/tasks.ts';
import { reopened, runStarted, take } from '../../bridges/agui/view.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import type { Lens } from '../../log/feed/lens.ts';
import { chunkText, type Sink, type Subscription } from '../../log/feed/sink.ts';
import { everyTaskEvent, shownKind } from '../../log/tasks/task-filter.ts';
import { taskEventOf } from '../../log/tasks/task-frame.ts';
import type { Caller } from '../access/auth.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { type HistoryPorts, readHistory } from './history.ts';

export interface RunStreamPorts extends HistoryPorts {
  readonly feed: LiveFeed;
  readonly streams: EventStreams;
}

export interface RunStream {
  readonly caller: Caller;
  readonly contextId: ContextId;
  readonly run: ShownRun;
  /** The cursor after which the run begins; null to join a task where it stands. */
  readonly after: number | null;
  /** The client gets the messages of the conversation first. Those that it has keep their ids. Null: it has them all. */
  readonly known: RunInput['messages'] | null;
  /** The client has left. A long conversation is not read for it then. */
  readonly isGone: () => boolean;
}

/** What a run shows when its stream opens. */
interface Opening {
  readonly state: RunState;
  readonly events: readonly AguiEvent[];
  /** Where it goes on. */
  readonly cursor: number;
}

export class RunStreams {
  readonly #ports: RunStreamPorts;

  constructor(ports: RunStreamPorts) {
    this.#ports = ports;
  }

  /** Reads what the run has to know. Throws before anything is sent. */
  async open(stream: RunStream): Promise<Opening> {
    const { contextId, run, after, known, isGone } = stream;
    const isJoined = after === null;
    const withMessages = known !== null;
    const head = isJoined || withMessages ? await this.#ports.contexts.head(contextId) : after;
    const range = { contextId, run, after: after ?? head, head, withMessages, isGone };
    const history = await readHistory(this.#ports, range);
    const { state, messages, cursor, last } = history;
    const open = reopened(state);
    const snapshot: AguiEvent[] =
      known === null ? [] : [{ type: EventType.MESSAGES_SNAPSHOT, messages: withKnown(messages.messages(), known) }];
    const ended = endOf(state, isJoined ? last : null);
    return { state, events: [runStarted(state), ...snapshot, ...open, ...ended], cursor: Math.max(cursor, after ?? 0) };
  }

  serve(response: ServerResponse, { caller, contextId, run }: RunStream, opening: Opening): void {
    const { feed, streams } = this.#ports;
    const { state, events, cursor } = opening;
    const lens = viewLens(state);
    const what = `${contextId} ${run.runId}`;
    const served = { tenant: caller.tenant, expiresAt: caller.expiresAt, what, farewell };
    streams.serveFrom(response, served, (sink) => {
      const isLast = state.end !== null;
      sink.write({ ...chunkText(events.map(frame)), upTo: -1, urgent: true, isLast });
      return isLast ? nothingMore : this.#follow(sink, { contextId, cursor, lens, state, feed });
    });
  }

  #follow(sink: Sink, { contextId, cursor, lens, state, feed }: Followed): Subscription {
    const subscription = feed.subscribe(
      { contextId, afterCursor: cursor, lens },
      {
        end: (fault) => sink.end(fault),
        write(chunk) {
          if (state.end === null) return sink.write(chunk);
          sink.write({ ...chunk, isLast: true });
          subscription.close();
          return false;
        },
      },
    );
    return subscription;
  }
}

/** In the place of a task, for a conversation in which none is open. */
export const NO_TASK = '';

/** The end of a run that is over when its stream opens: it ended before, or its task waits. */
function endOf(state: RunState, last: TaskEvent | null): readonly AguiEvent[] {
  const { taskId, threadId, runId } = state.run;
  if (taskId === NO_TASK) state.end = { type: EventType.RUN_FINISHED, threadId, runId, outcome: { type: 'success' } };
  if (state.end !== null) return [state.end];
  return last === null ? [] : waiting(state, last);
}

interface Followed {
  readonly contextId: ContextId;
  readonly cursor: number;
  readonly lens: Lens;
  readonly state: RunState;
  readonly feed: LiveFeed;
}

const nothingMore: Subscription = { resume: () => undefined, close: () => undefined };

const frame = (event: AguiEvent): string => `data: ${JSON.stringify(event)}\n\n`;

/** The live events of the run. A subscriber takes each row once, in order, so that the view may keep a state. */
function viewLens(state: RunState): Lens {
  const filter = { ...everyTaskEvent, taskId: state.run.taskId, subtree: true };
  return {
    key: null,
    face: 'task',
    nameOf: (_, row) => (state.end === null ? shownKind(filter, row) : null),
    render: (row, _, timestamp) => framesOf(state, taskEventOf(row, timestamp)),
    separator: '',
  };
}

/** The end of the connection is not the end of the run: without this, a client would take it for that. */
const farewell = frame({
  type: EventType.RUN_ERROR,
  code: 'service_unavailable',
  message: 'The host ended the connection before the run was over. Run again with the same runId to go on.',
});

const framesOf = (state: RunState, event: TaskEvent): string => take(state, event, true).map(frame).join('');
