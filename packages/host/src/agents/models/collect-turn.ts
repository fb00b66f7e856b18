/** Consumes a model's stream to its end. Every stream failure becomes a classified error, and none hangs. */
import type { Clock } from '../../engine/ports.ts';
import type { DeltaWriter } from './delta-writer.ts';
import { ModelError } from './model-error.ts';
import type { Model, ModelCall, ModelPart } from './model-port.ts';
import type { FinishReason, ModelToolCall, ModelUsage } from './turn.ts';

export interface StreamLimits {
  /** Idle timeout for a model that sets none of its own. */
  readonly idleMs: number;
  /** Limit for text, reasoning and arguments of one answer together: what does not fit in an event becomes an artifact. */
  readonly maxCharacters: number;
  readonly maxToolCalls: number;
}

export const streamLimits: StreamLimits = { idleMs: 120_000, maxCharacters: 1_900_000, maxToolCalls: 128 };

export interface Collected {
  readonly toolCalls: readonly ModelToolCall[];
  readonly finish: FinishReason;
  readonly usage: ModelUsage;
  /** The text left for the closing chunk. */
  readonly tail: string;
}

export interface CollectOptions {
  readonly model: Model;
  /** Carries the caller's abort signal. */
  readonly call: ModelCall;
  readonly writer: DeltaWriter;
  readonly clock: Clock;
  readonly limits: StreamLimits;
}

export async function collectTurn({ model, call, writer, clock, limits }: CollectOptions): Promise<Collected> {
  const ended = new AbortController();
  const watch = new Watch(call.signal, ended, clock, model.maxSilenceMs ?? limits.idleMs);
  const answer = new Answer(limits);
  try {
    const parts = model.stream({ ...call, signal: ended.signal })[Symbol.asyncIterator]();
    for (;;) {
      const next = await watch.next(parts);
      if (next.done === true) throw unfinished();
      for (const part of next.value) answer.take(part, writer);
      const room = writer.flush();
      if (room !== undefined) await watch.unhurried(room);
      if (answer.finished !== null) break;
    }
    if (answer.finished.finish === 'tool_calls' && answer.toolCalls.length === 0) throw noCalls();
    const tail = await writer.close();
    return { ...answer.finished, toolCalls: answer.toolCalls, tail };
  } finally {
    watch.end();
    // Closes open resources, such as a connection or a script timer.
    ended.abort();
  }
}

/** An empty delta counts as one character, because it is still a row. */
const EMPTY = 1;

/** The answer so far, checked against the limits. */
class Answer {
  readonly toolCalls: ModelToolCall[] = [];
  finished: { readonly finish: FinishReason; readonly usage: ModelUsage } | null = null;
  #characters = 0;
  readonly #limits: StreamLimits;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  take(part: ModelPart, writer: DeltaWriter): void {
    if (this.finished !== null) return;
    switch (part.type) {
      case 'text-delta':
        this.#measure(part.text.length || EMPTY);
        writer.add('text', part.text);
        return;
      case 'reasoning-delta':
        this.#measure(part.text.length || EMPTY);
        writer.add('reasoning', part.text);
        return;
      case 'tool-call':
        this.#measure(JSON.stringify(part.call.input).length);
        this.toolCalls.push(part.call);
        if (this.toolCalls.length > this.#limits.maxToolCalls) throw tooManyCalls(this.#limits.maxToolCalls);
        return;
      case 'finish':
        this.finished = { finish: part.finish, usage: part.usage };
    }
  }

  #measure(characters: number): void {
    this.#characters += characters;
    if (this.#characters > this.#limits.maxCharacters) throw tooLong(this.#limits.maxCharacters);
  }
}

/** Checks per idle timeout. */
const LOOKS = 4;
/** The initial count after a part arrives: the first check ends a span that was not fully silent. */
const HEARD = -1;

/** Waits for the next parts until the idle timeout passes or the caller aborts. */
class Watch {
  readonly #asker: AbortSignal;
  readonly #ended: AbortController;
  readonly #clock: Clock;
  readonly #idleMs: number;
  /** Silent spans between checks; null while the stream does not wait for the model. */
  #silentLooks: number | null = HEARD;
  #callOff: () => void;
  #giveUp: (reason: unknown) => void = () => undefined;

  constructor(asker: AbortSignal, ended: AbortController, clock: Clock, idleMs: number) {
    asker.throwIfAborted();
    this.#asker = asker;
    this.#ended = ended;
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#callOff = this.#lookLater();
    asker.addEventListener('abort', this.#aborted);
  }

  next<Value>(parts: AsyncIterator<Value>): Promise<IteratorResult<Value>> {
    this.#silentLooks = HEARD;
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      parts.next().then(resolve, reject);
    });
  }

  /** Waits for the log, without counting that time as the model's silence. */
  unhurried(room: Promise<void>): Promise<void> {
    this.#silentLooks = null;
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      room.then(resolve, reject);
    });
  }

  end(): void {
    this.#callOff();
    this.#asker.removeEventListener('abort', this.#aborted);
  }

  /**
   * Keeps one timer at a time for the whole stream, however many parts it has. It counts spans, so a clock change has
   * no effect.
   */
  #lookLater(): () => void {
    return this.#clock.wakeAt(this.#clock.now() + this.#idleMs / LOOKS, () => {
      if (this.#silentLooks !== null) this.#silentLooks++;
      if (this.#silentLooks === LOOKS) this.#stop(silent(this.#idleMs));
      else this.#callOff = this.#lookLater();
    });
  }

  readonly #aborted = (): void => this.#stop(this.#asker.reason);

  #stop(reason: unknown): void {
    this.#giveUp(reason);
    this.#ended.abort(reason);
  }
}

const unfinished = (): ModelError =>
  new ModelError('bad_stream', {
    message: 'The stream of the model ended without saying why: the answer is incomplete.',
  });

const noCalls = (): ModelError =>
  new ModelError('bad_stream', { message: 'The model ended its turn to call tools, and called none.' });

const silent = (ms: number): ModelError =>
  new ModelError('timeout', { message: `The model was silent for ${ms} ms, and was given up.` });

const tooLong = (limit: number): ModelError =>
  new ModelError('bad_stream', {
    message: `The model answered with more than ${limit} characters, which is more than is recorded of one turn.`,
    retryable: false,
  });

const tooManyCalls = (limit: number): ModelError =>
  new ModelError('bad_stream', { message: `The model called more than ${limit} tools in one turn.`, retryable: false });
