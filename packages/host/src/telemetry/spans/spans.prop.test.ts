/** Properties of the spans over random histories, legal or not. */
import type { FoldEvent } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyHistory, CANARY, someRun } from '../run-history.kit.ts';
import { runSpans } from './run-spans.ts';
import type { RunSpan } from './span-model.ts';
import { SpanFold } from './spans.ts';

/** The spans in the order they ended. */
function foldAll(events: readonly FoldEvent[], fold = new SpanFold(someRun)): RunSpan[] {
  return events.flatMap((event) => fold.take(event));
}

test('every span is closed once, under an id of its own, and none is left open when the run ends', () => {
  fc.assert(
    fc.property(anyHistory, (events) => {
      const fold = new SpanFold(someRun);
      const spans = foldAll(events, fold);
      expect(fold.open()).toEqual([]);
      expect(fold.isOver).toBe(true);
      expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
      for (const { endedAt, startedAt } of spans) expect(endedAt ?? -1).toBeGreaterThanOrEqual(startedAt);
    }),
    { numRuns: 500 },
  );
});

/** How many spans of each kind there must be, counted without knowing how they are made. */
function expectedCounts(events: readonly FoldEvent[]): Record<string, number> {
  const counts = { run: 1, node: 0, attempt: 0, activity: 0, interrupt: 0 };
  const active = new Set<string>();
  for (const { type, nodeId = '' } of events) {
    if (type === 'node.started') {
      if (!active.has(nodeId)) counts.node += 1;
      counts.attempt += 1;
      active.add(nodeId);
    } else if (/^node\.(completed|failed|skipped|cancelled)$/.test(type)) active.delete(nodeId);
    else if (type === 'cairn.step.requested' && active.has(nodeId)) counts.activity += 1;
    else if (type === 'interrupt.requested' && active.has(nodeId)) counts.interrupt += 1;
  }
  return counts;
}

test('no span is forgotten: each start of a run, node, attempt, call and question has one', () => {
  const kindOf = ({ name }: RunSpan): string =>
    name.endsWith('.attempt') ? 'attempt' : (/^openwop\.(run|node|activity|interrupt)/.exec(name)?.[1] ?? name);
  fc.assert(
    fc.property(anyHistory, (events) => {
      const counts: Record<string, number> = { run: 0, node: 0, attempt: 0, activity: 0, interrupt: 0 };
      for (const span of foldAll(events)) counts[kindOf(span)] = (counts[kindOf(span)] ?? 0) + 1;
      expect(counts).toEqual(expectedCounts(events));
    }),
    { numRuns: 500 },
  );
});

test('every parent exists, in the same trace, and is open for as long as its child', () => {
  fc.assert(
    fc.property(anyHistory, (events) => {
      const spans = foldAll(events);
      const byId = new Map(spans.map((span) => [span.spanId, span]));
      for (const span of spans) {
        if (span.parentSpanId === null) {
          expect(span.name).toBe('openwop.run');
          continue;
        }
        const parent = byId.get(span.parentSpanId);
        expect(parent?.traceId).toBe(span.traceId);
        expect(parent?.startedAt).toBeLessThanOrEqual(span.startedAt);
        expect(parent?.endedAt).toBeGreaterThanOrEqual(span.endedAt ?? Number.POSITIVE_INFINITY);
      }
    }),
    { numRuns: 500 },
  );
});

test('who folds a prefix and throws away what ended goes on with exactly the rest', () => {
  fc.assert(
    fc.property(anyHistory, fc.nat(), (events, at) => {
      const cut = at % (events.length + 1);
      const fold = new SpanFold(someRun);
      const first = foldAll(events.slice(0, cut), fold);
      // Looking at what is open changes nothing.
      fold.open();
      const second = foldAll(events.slice(cut), fold);
      expect([...first, ...second]).toEqual(foldAll(events));
    }),
  );
});

test('a span that has ended is the same in the view of any longer prefix', () => {
  fc.assert(
    fc.property(anyHistory, fc.nat(), (events, at) => {
      const cut = at % (events.length + 1);
      const ended = runSpans(someRun, events.slice(0, cut)).filter(({ endedAt }) => endedAt !== null);
      expect(runSpans(someRun, events)).toEqual(expect.arrayContaining(ended));
    }),
  );
});

test('spans hold primitives, names in the namespace are known, and nothing the run works on gets in', () => {
  const names =
    /^(error\.type|openwop\.((run|workflow|tenant|scope|node|interrupt)_id|protocol_version|node_(type|attempt)|event_(seq|type)|interrupt_(kind|count)|cap_(kind|limit|observed)|cost\.(tokens\.(input|output|total)|usd|currency|estimated|provider)))$/;
  fc.assert(
    fc.property(anyHistory, (events) => {
      const spans = foldAll(events);
      for (const { attributes, notes } of spans) {
        for (const [name, value] of [
          ...notes.flatMap((note) => Object.entries(note.attributes)),
          ...Object.entries(attributes),
        ]) {
          expect(name).toMatch(names);
          expect(['string', 'number', 'boolean']).toContain(typeof value);
        }
      }
      expect(JSON.stringify(spans)).not.toContain(CANARY);
    }),
  );
});
