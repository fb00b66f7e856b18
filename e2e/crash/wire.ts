/** Requests that survive kills of the host: resent until the host gives a final response. */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Timers } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { fields } from '../../packages/host/test/kit/json-fields.ts';

export interface Reply {
  readonly status: number;
  readonly body: JsonObject;
  /** Number of earlier sends. The host may have executed one of them. */
  readonly resent: number;
}

export interface Posting {
  readonly path: string;
  readonly body: JsonObject;
  readonly idempotencyKey?: string;
  readonly prefer?: 'respond-async';
}

/** Delay between two attempts. A host that is shutting down still accepts connections for a moment. */
const AGAIN_MS = 15;

/** Timers of a client that reconnects as fast as the host is killed. */
const hasty: Timers = {
  after(ms, wake) {
    const timer = setTimeout(wake, ms > 1_000 ? ms : ms / 10);
    return () => clearTimeout(timer);
  },
  random: () => 0,
};

/** A host, or a proxy in front of several. */
export interface WireHost {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly settings: { readonly key: string };
  /** Resolves once it can be reached. */
  address(signal?: AbortSignal | null): Promise<string>;
}

export class Wire {
  readonly #host: WireHost;
  readonly #signal: AbortSignal;

  constructor(host: WireHost, signal: AbortSignal) {
    this.#host = host;
    this.#signal = signal;
  }

  async post(posting: Posting): Promise<Reply> {
    for (let resent = 0; ; resent += 1) {
      const reply = await this.#send(posting);
      if (reply !== null && reply.status < 500 && reply.body.error !== 'idempotency_in_flight')
        return { ...reply, resent };
      await pause(AGAIN_MS, undefined, { signal: this.#signal });
    }
  }

  async #send({ path, body, idempotencyKey, prefer }: Posting): Promise<Omit<Reply, 'resent'> | null> {
    try {
      const response = await this.#host.fetch(path, {
        method: 'POST',
        headers: {
          ...this.#authorization(),
          'content-type': 'application/json',
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...(prefer !== undefined && { prefer }),
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

  /** One connection to a run's stream. */
  stream(runId: string, after: number): AsyncGenerator<EventSourceMessage> {
    return this.frames(`/v1/runs/${runId}/events?streamMode=debug`, after < 0 ? null : after);
  }

  /**
   * One connection to a stream, after the frame with this id. Ends with the connection, whichever side closes it. Yields
   * nothing when there is no stream.
   */
  async *frames(path: string, lastId: number | null): AsyncGenerator<EventSourceMessage> {
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    const decoder = new TextDecoder();
    try {
      const response = await this.#host.fetch(path, {
        headers: {
          ...this.#authorization(),
          accept: 'text/event-stream',
          ...(lastId === null ? {} : { 'last-event-id': String(lastId) }),
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

  /** The sequences that the project's own client yields for a run, from the first to the terminal event. */
  async clientSequences(runId: string): Promise<readonly number[]> {
    const { fetch, settings } = this.#host;
    const client = createClient({ url: 'http://host', key: settings.key, fetch, timers: hasty });
    const sequences: number[] = [];
    for await (const { sequence } of client.follow(runId, { signal: this.#signal })) sequences.push(sequence);
    return sequences;
  }

  /** Waits briefly, then waits for the host to be up. */
  async rest(): Promise<void> {
    await pause(AGAIN_MS, undefined, { signal: this.#signal });
    await this.#host.address(this.#signal);
  }

  #authorization(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.#host.settings.key}` };
  }
}
