/**
 * One entry into a call of a peer: sends messages, follows the task by its stream, subscribes again after a cut, and asks
 * for the task when there is no stream. It holds one connection at a time.
 */
import type { Json, JsonObject } from '@cairn/protocol';
import type { PeerCard } from './agent-card.ts';
import { peerError, RequestFailure, RpcFailure, rpcCodes, unanswered } from './peer-error.ts';
import { type RpcPorts, type RpcRequest, requested, streamed } from './peer-rpc.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { RemoteTask } from './remote-task.ts';
import { type RemoteState, type RemoteUpdate, taskOf, tasksOf, updateOf } from './remote-update.ts';

/** A message of this host, in neither version's form. */
export interface OutboundMessage {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string | null;
  readonly text: string | null;
  readonly data: Json | undefined;
  readonly metadata: JsonObject;
}

export interface PeerTaskPorts extends RpcPorts {
  readonly settings: PeerSettings;
  readonly signal: AbortSignal;
  /** Resolves after the time, or rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told after each update. */
  readonly changed: (task: RemoteTask) => void;
}

type Updates = AsyncIterator<RemoteUpdate>;

/** Requests that answer at once may take this long. */
const REQUEST_MS = 30_000;
/** Failures in a row after which the call is given up. */
const MAX_FAILURES = 8;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;

export class PeerTask {
  readonly #ports: PeerTaskPorts;
  /** The open stream of the task, if there is one. */
  #updates: Updates | null = null;
  #canSubscribe: boolean;

  constructor(ports: PeerTaskPorts) {
    this.#ports = ports;
    this.#canSubscribe = ports.card.isStreaming;
  }

  get #card(): PeerCard {
    return this.#ports.card;
  }

  /** Sends a message once, and folds in the first update. Throws a `RequestFailure` when it may not have arrived. */
  async send(message: OutboundMessage, task: RemoteTask): Promise<void> {
    const { peer, signal } = this.#ports;
    const { version, isStreaming } = this.#card;
    if (!isStreaming) {
      const params = sendParams(version, message, true);
      const result = await requested(this.#ports, { operation: 'send', params, signal });
      task.fold(updateOf(peer, version, result ?? null));
      return;
    }
    this.#open({ operation: 'stream', params: sendParams(version, message, false), signal });
    const first = await this.#next();
    if (first === null) throw new RequestFailure(unanswered(peer), false);
    task.fold(first);
  }

  /** Returns when the task has ended or waits for somebody. Throws errors of the host. */
  async follow(task: RemoteTask): Promise<void> {
    const { wait, signal, peer, changed } = this.#ports;
    let failures = 0;
    let polls = 0;
    while (!task.isSettled) {
      try {
        const isMoved = await this.#advance(task);
        changed(task);
        failures = 0;
        if (!isMoved && !task.isSettled) await wait(backoff(polls++), signal);
      } catch (error) {
        signal.throwIfAborted();
        this.#close();
        const told = peerError(peer, error);
        failures += 1;
        if (!told.retryable || failures > MAX_FAILURES) throw told;
        await wait(backoff(failures), signal);
      }
    }
    this.#close();
  }

  /** Folds in what is there. Whether the peer tells when there is more. */
  async #advance(task: RemoteTask): Promise<boolean> {
    if (this.#updates === null && this.#canSubscribe && task.taskId !== null) {
      const params = { id: task.taskId };
      this.#open({ operation: 'subscribe', params, signal: this.#ports.signal });
    }
    if (this.#updates === null) {
      await this.read(task);
      return false;
    }
    try {
      const update = await this.#next();
      // The end of a stream says nothing about the task: it is read, and followed again if it goes on.
      if (update === null) await this.read(task);
      else task.fold(update);
      return update !== null;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // It has ended meanwhile, or the peer has no subscriptions.
      this.#close();
      this.#canSubscribe = false;
      await this.read(task);
      return false;
    }
  }

  /** Reads the task as it is. */
  async read(task: RemoteTask, taskId = task.taskId ?? ''): Promise<void> {
    const { peer } = this.#ports;
    const result = await this.#request({ operation: 'get', params: { id: taskId } });
    task.fold(taskOf(peer, result));
  }

  /** Waits before the next try. */
  pause(tries: number): Promise<void> {
    return this.#ports.wait(backoff(tries), this.#ports.signal);
  }

  /** Finds the task that a message started. Undefined when the peer cannot say. */
  async find({ contextId, messageId }: OutboundMessage, isOnly: boolean): Promise<string | null | undefined> {
    const { peer } = this.#ports;
    try {
      const params = { contextId, pageSize: 50, historyLength: 50 };
      const result = await this.#request({ operation: 'list', params });
      if (result === null) return undefined;
      const tasks = tasksOf(peer, result);
      const found = tasks.find(({ messageIds }) => messageIds.includes(messageId)) ?? (isOnly ? tasks[0] : undefined);
      return found?.taskId ?? (tasks.length === 0 || isOnly ? null : undefined);
    } catch (error) {
      if (error instanceof RpcFailure) return undefined;
      throw error;
    }
  }

  /** The state of the task afterwards, as the peer says. */
  async cancel(taskId: string): Promise<RemoteState> {
    const result = await this.#request({ operation: 'cancel', params: { id: taskId } });
    return taskOf(this.#ports.peer, result).status.state;
  }

  #request(request: Omit<RpcRequest, 'signal'>): Promise<Json | null> {
    const signal = AbortSignal.any([this.#ports.signal, AbortSignal.timeout(REQUEST_MS)]);
    return requested(this.#ports, { ...request, signal });
  }

  #open(request: RpcRequest): void {
    const { peer } = this.#ports;
    const { version } = this.#card;
    const results = streamed(this.#ports, request);
    this.#updates = (async function* () {
      for await (const result of results) yield updateOf(peer, version, result);
    })();
  }

  async #next(): Promise<RemoteUpdate | null> {
    const next = await this.#updates?.next();
    if (next === undefined || next.done === true) {
      this.#updates = null;
      return null;
    }
    return next.value;
  }

  /** Ends the stream, and with it its connection. */
  #close(): void {
    void this.#updates?.return?.().catch(() => undefined);
    this.#updates = null;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof RpcFailure && (error.code === rpcCodes.unsupported || error.code === rpcCodes.noMethod);

const backoff = (times: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** times);

function sendParams(version: PeerCard['version'], message: OutboundMessage, isImmediate: boolean): JsonObject {
  const { messageId, contextId, taskId, text, data, metadata } = message;
  // A task is in a context already, which the peer may have named itself.
  const ids = { messageId, ...(taskId === null ? { contextId } : { taskId }), metadata };
  const isNew = version === '1.0';
  const kind = (name: string): JsonObject => (isNew ? {} : { kind: name });
  const parts = [
    ...(text === null ? [] : [{ ...kind('text'), text }]),
    ...(data === undefined ? [] : [{ ...kind('data'), data }]),
  ];
  const sent = { ...kind('message'), ...ids, role: isNew ? 'ROLE_USER' : 'user', parts };
  if (!isImmediate) return { message: sent };
  return { message: sent, configuration: isNew ? { returnImmediately: true } : { blocking: false } };
}
