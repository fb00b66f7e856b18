/** Requests that do not give up while the host is being killed: sent again until it has answered for good. */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Timers } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import type { HostProcess } from './host-process.ts';

export interface Reply {
  readonly status: number;
  readonly body: JsonObject;
  /** How often it was sent before: an earlier one may have been carried out. */
  readonly resent: number;
}

export interface Posting {
  readonly path: string;
  readonly body: JsonObject;
  readonly idempotencyKey?: string;
}

/** Between two tries: a host that is going down still accepts connections for a moment. */
const AGAIN_MS = 15;

/** A client that reconnects as fast as the host is killed. */
const hasty: Timers = {
  after(ms, wake) {
    const timer = setTimeout(wake, ms > 1_000 ? ms : ms / 10);
    return () => clearTimeout(timer);
  },
  random: () => 0,
};

export class Wire {
  readonly #host: HostProcess;
  readonly #signal: AbortSignal;

  constructor(host: HostProcess, signal: AbortSignal) {
    this.#host = host;
    this.#signal = signal;
  }

  async post({ path, body, idempotencyKey }: Posting): Promise<Reply> {
    for (let resent = 0; ; resent += 1) {
      const reply = await this.#send(path, body, idempotencyKey);
      if (reply !== null && reply.status < 500 && reply.body.error !== 'idempotency_in_flight')
        return { ...reply, resent };
      await pause(AGAIN_MS, undefined, { signal: this.#signal });
    }
  }

  async #send(
    path: string,
    body: JsonObject,
    idempotencyKey: string | undefined,
  ): Promise<Omit<Reply, 'resent'> | null> {
    try {
      const response = await this.#host.fetch(path, {
        method: 'POST',
        headers: {
          ...this.#authorization(),
          'content-type': 'application/json',
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        body: JSON.stringify(body),
        signal: this.#signal,
      });
      return { status: response.status, body: fields(await response.json()) };
    } catch {
      this.#signal.throwIfAborted();
      return null;
    }
  }

  /** One connection to a run's stream; ends when it does, whoever ended it. Gives null when there was no stream. */
  async *stream(runId: string, after: number): AsyncGenerator<EventSourceMessage> {
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    const decoder = new TextDecoder();
    try {
      const response = await this.#host.fetch(`/v1/runs/${runId}/events?streamMode=debug`, {
        headers: {
          ...this.#authorization(),
          accept: 'text/event-stream',
          ...(after < 0 ? {} : { 'last-event-id': String(after) }),
        },
        signal: this.#signal,
      });
      if (response.status !== 200 || response.body === null) return;
      for await (const chunk of response.body) {
        parser.feed(decoder.decode(chunk, { stream: true }));
        yield* messages.splice(0);
      }
    } catch {
      this.#signal.throwIfAborted();
    }
  }

  /** The sequences that the project's own client gives of a run, from the first to the terminal one. */
  async clientSequences(runId: string): Promise<readonly number[]> {
    const { fetch, settings } = this.#host;
    const client = createClient({ url: 'http://host', key: settings.key, fetch, timers: hasty });
    const sequences: number[] = [];
    for await (const { sequence } of client.follow(runId, { signal: this.#signal })) sequences.push(sequence);
    return sequences;
  }

  /** Waits a moment, and then for the host to be up. */
  async rest(): Promise<void> {
    await pause(AGAIN_MS, undefined, { signal: this.#signal });
    await this.#host.address(this.#signal);
  }

  #authorization(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.#host.settings.key}` };
  }
}
