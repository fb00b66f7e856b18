/** Follows a run to its end across broken connections, without gaps or repeats, in order. */
import {
  type EventDoc,
  isTerminalStatus,
  isTerminalType,
  isUpdate,
  type RunSnapshot,
  type StreamMode,
} from '@cairn/protocol';
import type { Connection } from './connection.ts';
import { type EventStream, readStream } from './event-stream.ts';
import { DEFAULT_SILENCE_MS, reconnecting } from './reconnecting.ts';
import type { Timers } from './timers.ts';

interface StreamOptions {
  readonly signal?: AbortSignal;
  /** Maximum time without data, not even a keepalive, before the connection counts as dead. Default 60,000. */
  readonly silenceMs?: number;
  /** Lets the host hold events back for so many milliseconds and send them together; at most 5,000. Default 0. */
  readonly bufferMs?: number;
  /** Called when the connection broke. The next one follows by itself. */
  readonly onBreak?: () => void;
}

export interface FollowOptions extends StreamOptions {
  /** Start after this sequence; left out, from the first event. */
  readonly after?: number;
  /** Which events: `debug` all of them (the default), `updates` the transitions, `messages` streamed text; a list is their union. */
  readonly modes?: readonly Exclude<StreamMode, 'values'>[];
}

export interface WatchOptions extends StreamOptions {
  /** Begin with the state after the run's first transition, instead of the state as it is now. */
  readonly fromStart?: boolean;
}

/** The state of a run after the event with sequence `atSeq`. */
export type RunState = RunSnapshot & { readonly atSeq: number };

/** What a follower reads, from which position, and which event is the last. */
interface Journey {
  readonly runId: string;
  readonly modes: readonly string[];
  readonly options: StreamOptions;
  /** Events up to this sequence are skipped; -1 for none. */
  readonly after: number;
  /** The position to send before the first event. */
  readonly firstId: number | null;
  readonly isLast: (event: EventDoc) => boolean;
}

/**
 * The events of a run as they become durable, until the terminal one. Sequences increase; they may have holes, because a
 * key without `audit:read` does not see operator rows. Throws a typed error when the host refuses (401, 403, 404, 400).
 */
export async function* follow(
  connection: Connection,
  timers: Timers,
  runId: string,
  options: FollowOptions = {},
): AsyncGenerator<EventDoc, void, undefined> {
  const modes = options.modes ?? ['debug'];
  // `messages` does not show the end of a run. `updates` does; its events are dropped here.
  const isMessagesOnly = modes.every((mode) => mode === 'messages');
  const asked = isMessagesOnly ? [...modes, 'updates'] : modes;
  const events = resumed(connection, timers, {
    runId,
    modes: asked,
    options,
    after: options.after ?? -1,
    firstId: null,
    isLast: (event) => isTerminalType(event.type),
  });
  for await (const event of events) if (!(isMessagesOnly && isUpdate(event.type))) yield event;
}

/** The state of a run as it is now and after each of its transitions, until the terminal one. */
export async function* watch(
  connection: Connection,
  timers: Timers,
  runId: string,
  options: WatchOptions = {},
): AsyncGenerator<RunState, void, undefined> {
  const states = resumed(connection, timers, {
    runId,
    modes: ['values'],
    options,
    after: -1,
    // With any position the host first sends the current state.
    firstId: options.fromStart ? null : 0,
    isLast: (event) => isTerminalStatus(stateOf(event).status),
  });
  for await (const event of states) yield stateOf(event);
}

const stateOf = (event: EventDoc): RunState => ({
  ...(event.payload as RunSnapshot),
  atSeq: event.sequence,
});

const eventsPath = (runId: string): string => `/v1/runs/${encodeURIComponent(runId)}/events`;

/** Connects, yields what is new, and connects again after the last event it received. */
function resumed(connection: Connection, timers: Timers, journey: Journey): AsyncGenerator<EventDoc, void, undefined> {
  const { runId, modes, options, after, firstId } = journey;
  const { bufferMs, silenceMs = DEFAULT_SILENCE_MS } = options;
  const path = `${eventsPath(runId)}?streamMode=${modes.join(',')}${bufferMs === undefined ? '' : `&bufferMs=${bufferMs}`}`;
  let last = after;
  return reconnecting(timers, options, async function* (signal, succeeded) {
    const stream = { connection, timers, path, silenceMs, signal };
    for await (const event of readStream(stream, last >= 0 ? last : firstId)) {
      if (event.sequence <= last) continue;
      last = event.sequence;
      succeeded();
      yield event;
      if (journey.isLast(event)) return true;
    }
    // A stream that was resumed at or after the terminal event ends without one; so does one whose host went away.
    return last === after && (await hasEnded(stream, journey));
  });
}

/** Whether the run has ended and has no event after the start position. */
async function hasEnded({ connection, signal }: EventStream, { runId, after }: Journey): Promise<boolean> {
  const query = after >= 0 ? `?lastSequence=${after}&timeout=1` : '?timeout=1';
  const poll = await connection.json<{ readonly events: readonly unknown[]; readonly isComplete: boolean }>({
    method: 'GET',
    path: `${eventsPath(runId)}/poll${query}`,
    signal,
  });
  return poll.isComplete && poll.events.length === 0;
}
