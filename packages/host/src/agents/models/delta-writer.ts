/** Writes model output as rows while it streams: in order, redacted, and with backpressure from the log. */
import type { CallContext, Emission, Redactor } from '../../engine/ports.ts';
import { GrowingText } from '../../growing-text.ts';
import type { ReasoningVerbosity } from './turn.ts';

/** Redacts one text that arrives in pieces. */
type TextStream = ReturnType<Redactor['stream']>;

export interface DeltaOptions {
  readonly agentId: string;
  readonly verbosity: ReasoningVerbosity;
  /** Writes each delta as its own row; otherwise merges deltas while the log applies backpressure. */
  readonly isScripted: boolean;
  /** Leaves the last piece of text for the chunk that closes the block. */
  readonly keepsTail: boolean;
  /** Null disables redaction. */
  readonly redact: (() => TextStream) | null;
}

type Kind = 'reasoning' | 'text';
type RowContext = Pick<CallContext, 'runId' | 'nodeId' | 'callId' | 'attempt' | 'emit'>;

/**
 * The most characters of a delta in one row. JSON takes at most six bytes for a character, and the task face repeats it,
 * so that every piece fits in an event.
 */
const MAX_DELTA_CHARS = 32_768;

/** Splits a text that is too long for one row, never inside a surrogate pair. An empty text is one piece. */
function pieces(text: string): readonly string[] {
  if (text.length <= MAX_DELTA_CHARS) return [text];
  const found: string[] = [];
  for (let from = 0; from < text.length; ) {
    let end = Math.min(from + MAX_DELTA_CHARS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    found.push(text.slice(from, end));
    from = end;
  }
  return found;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

const asIs: TextStream = { push: (piece) => piece, end: () => '' };

export class DeltaWriter {
  readonly #context: RowContext;
  readonly #options: DeltaOptions;
  readonly #streams: Readonly<Record<Kind, TextStream>>;
  readonly #channel: string;
  readonly #said: Readonly<Record<Kind, GrowingText>> = { reasoning: new GrowingText(), text: new GrowingText() };
  /** Number of text rows written. */
  chunks = 0;
  #reasonings = 0;
  #held: string | null = null;
  #rows: Emission[] = [];
  /** Pieces that arrived while the log applied backpressure. */
  #waiting: { kind: Kind; text: string }[] = [];
  #room: Promise<void> | null = null;

  constructor(context: RowContext, options: DeltaOptions) {
    this.#context = context;
    this.#options = options;
    const { redact } = options;
    this.#streams = { reasoning: redact?.() ?? asIs, text: redact?.() ?? asIs };
    // Each attempt of a call is its own block; the block of a failed attempt stays, closed.
    this.#channel = context.attempt === 1 ? context.callId : `${context.callId}~${context.attempt}`;
  }

  /** Redacted text so far. */
  get said(): Readonly<Record<Kind, string>> {
    const { reasoning, text } = this.#said;
    return { reasoning: reasoning.toString(), text: text.toString() };
  }

  add(kind: Kind, piece: string): void {
    const clean = this.#streams[kind].push(piece);
    if (clean !== '' || piece === '') this.#write(kind, clean);
  }

  /** Emits the pending rows. Returns a promise when the caller must wait for the log before it adds more. */
  flush(): Promise<void> | undefined {
    if (this.#rows.length === 0) return undefined;
    const rows = this.#rows;
    this.#rows = [];
    const room = this.#context.emit(rows);
    if (room === undefined || this.#options.isScripted) return room;
    // If the log rejects, the attempt ends; `close` reports that error to its caller.
    this.#room = room.then(() => this.#roomAgain());
    this.#room.catch(() => undefined);
    return undefined;
  }

  /** Emits all remaining rows and returns the text left for the closing chunk. */
  async close(): Promise<string> {
    const reasoning = this.#streams.reasoning.end();
    if (reasoning !== '') this.#write('reasoning', reasoning);
    const rest = this.#streams.text.end();
    this.#said.text.add(rest);
    await this.flush();
    while (this.#room !== null) await this.#room;
    return (this.#held ?? '') + rest;
  }

  #write(kind: Kind, text: string): void {
    if (kind === 'reasoning' && this.#options.verbosity === 'off') return;
    this.#said[kind].add(text);
    if (kind !== 'text' || !this.#options.keepsTail) {
      this.#row(kind, text);
      return;
    }
    for (const piece of pieces(text)) {
      const before = this.#held;
      this.#held = piece;
      if (before !== null) this.#row(kind, before);
    }
  }

  #row(kind: Kind, text: string): void {
    if (this.#room === null) {
      for (const piece of pieces(text)) this.#rows.push(kind === 'text' ? this.#chunk(piece) : this.#delta(piece));
      return;
    }
    const last = this.#waiting.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.#waiting.push({ kind, text });
  }

  #roomAgain(): void {
    this.#room = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { kind, text } of waiting) this.#row(kind, text);
    void this.flush();
  }

  #chunk(chunk: string): Emission {
    this.chunks++;
    const { nodeId, runId } = this.#context;
    return { type: 'output.chunk', payload: { nodeId, runId, chunk, isLast: false, channel: this.#channel } };
  }

  #delta(delta: string): Emission {
    const { agentId, verbosity } = this.#options;
    return { type: 'agent.reasoning.delta', payload: { agentId, delta, sequence: this.#reasonings++, verbosity } };
  }
}
