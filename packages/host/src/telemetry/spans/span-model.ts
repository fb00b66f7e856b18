/** A span while it is open, when exported, and in a debug bundle. */
import { isoTime } from '@cairn/protocol';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span event: an event was appended to the log. */
export interface SpanNote {
  readonly at: number;
  readonly attributes: Attributes;
}

export interface SpanStatus {
  readonly code: 'unset' | 'ok' | 'error';
  /** An error code, never a message: messages may contain the run's data. */
  readonly message?: string;
}

/** A span of a run. `endedAt` is null while it is open. */
export interface RunSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly attributes: Attributes;
  readonly notes: readonly SpanNote[];
  readonly droppedNotes: number;
  readonly status: SpanStatus;
  readonly link: SpanLink | null;
}

/** A span of another trace that this one belongs with, but is no part of. */
export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

/** The name of every note. */
export const NOTE_NAME = 'openwop.event.append';

/** The OpenTelemetry default. It bounds the memory of a node that streams for hours. */
const MAX_NOTES = 128;

export type SpanStart = Pick<RunSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'kind' | 'startedAt' | 'link'>;

/** A span that has not ended. */
export class OpenSpan {
  readonly start: SpanStart;
  readonly attributes: Record<string, string | number | boolean>;
  readonly #notes: SpanNote[] = [];
  #dropped = 0;

  constructor(start: SpanStart, attributes: Attributes) {
    this.start = start;
    this.attributes = { ...attributes };
  }

  note(at: number, attributes: Attributes): void {
    if (this.#notes.length < MAX_NOTES) this.#notes.push({ at, attributes });
    else this.#dropped += 1;
  }

  /** A snapshot of the span, ended or not. */
  view(endedAt: number | null, status: SpanStatus = { code: 'unset' }): RunSpan {
    const attributes = { ...this.attributes };
    return { ...this.start, endedAt, attributes, notes: [...this.#notes], droppedNotes: this.#dropped, status };
  }
}

/** A span in its wire format. */
export interface SpanDoc {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly kind: RunSpan['kind'];
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly at: string; readonly attributes: Attributes }[];
  readonly status: SpanStatus;
  readonly links?: readonly SpanLink[];
}

export function spanDoc(span: RunSpan): SpanDoc {
  const { name, traceId, spanId, parentSpanId, kind, startedAt, endedAt, attributes, notes, status } = span;
  return {
    name,
    traceId,
    spanId,
    parentSpanId,
    kind,
    startedAt: isoTime(startedAt),
    endedAt: endedAt === null ? null : isoTime(endedAt),
    attributes,
    events: notes.map((note) => ({ name: NOTE_NAME, at: isoTime(note.at), attributes: note.attributes })),
    status,
    ...(span.link === null ? {} : { links: [span.link] }),
  };
}
