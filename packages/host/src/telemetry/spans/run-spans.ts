/** All spans of a run at once, as documents. */
import type { FoldEvent, RunId } from '@cairn/protocol';
import type { Lineage } from './fork-span.ts';
import { type RunSpan, type SpanDoc, spanDoc } from './span-model.ts';
import { SpanFold } from './spans.ts';

/** Collects all spans of a run from its events, which it takes in order. */
export class RunSpans {
  readonly #fold: SpanFold;
  readonly #ended: RunSpan[] = [];

  constructor(runId: RunId, record: Lineage | null = null) {
    this.#fold = new SpanFold(runId, record);
  }

  take(event: FoldEvent): void {
    this.#ended.push(...this.#fold.take(event));
  }

  /** In start order; open spans have no end. */
  docs(): readonly SpanDoc[] {
    const spans = [...this.#ended, ...this.#fold.open()].map((span, place) => ({ span, place }));
    // Parents end after their children but must come before them.
    spans.sort((a, b) => a.span.startedAt - b.span.startedAt || b.place - a.place);
    return spans.map(({ span }) => spanDoc(span));
  }
}

/** All spans of a run, in start order; open spans have no end. */
export function runSpans(runId: RunId, events: Iterable<FoldEvent>): readonly SpanDoc[] {
  const spans = new RunSpans(runId);
  for (const event of events) spans.take(event);
  return spans.docs();
}
