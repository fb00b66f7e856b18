/** The spans of a run as a pure view of its log: the same events always give the same spans, with the same ids. */
import type { Json, JsonObject, RawEvent, RunId } from '@cairn/protocol';
import { isTerminalType } from '@cairn/protocol';
import { runAttributes, startOfCall, usageAttributes } from './span-attributes.ts';
import { type Attributes, OpenSpan, type RunSpan, type SpanDoc, type SpanStatus, spanDoc } from './span-model.ts';
import { derivedTraceId, parseTraceparent, spanIdOf } from './trace-context.ts';

/** What of an event spans are made of. */
export type SpanEvent = Omit<RawEvent, 'payload'> & { readonly runId: RunId; readonly payload: Json };

/** All spans of a run, in the order they began; those that are open have no end. */
export function runSpans(events: Iterable<SpanEvent>): readonly SpanDoc[] {
  const fold = new SpanFold();
  const ended: RunSpan[] = [];
  for (const event of events) ended.push(...fold.take(event));
  const spans = [...ended, ...fold.open()].map((span, place) => ({ span, place }));
  // Parents end after their children, and are to come before them.
  spans.sort((a, b) => a.span.startedAt - b.span.startedAt || b.place - a.place);
  return spans.map(({ span }) => spanDoc(span));
}

/** What is open below a node's span, which ends with it at the latest. */
interface OpenNode {
  readonly span: OpenSpan;
  /** Null between two attempts. */
  attempt: OpenSpan | null;
  readonly calls: Map<string, OpenSpan>;
  readonly interrupts: Map<string, OpenSpan>;
}

const OK: SpanStatus = { code: 'ok' };

/** Pieces of text are too many to be noted one by one: the rows that close them are. */
export const isPiece = (type: string): boolean => type === 'output.chunk' || type === 'agent.reasoning.delta';
const UNSET: SpanStatus = { code: 'unset' };

/** Takes a run's events in order, and gives each span once, when it ends, children before their parents. */
export class SpanFold {
  #traceId = '';
  #run: OpenSpan | null = null;
  /** What every span of the run says. */
  #common: Attributes = {};
  readonly #nodes = new Map<string, OpenNode>();
  /** How often each node has asked. */
  readonly #asked = new Map<string, number>();
  #ended: RunSpan[] = [];
  #isOver = false;

  take(event: SpanEvent): readonly RunSpan[] {
    if (isPiece(event.type)) return [];
    const payload = objectOf(event.payload);
    if (event.type === 'run.started') this.#startRun(event, payload);
    if (this.#run === null) return [];
    const nodeId = event.nodeId ?? textOf(payload.nodeId);
    if (event.type === 'node.started') this.#startNode(event, nodeId, payload);
    this.#note(event, nodeId);
    if (nodeId !== undefined) this.#ofNode(event, nodeId, payload);
    if (event.type === 'cap.breached') this.#breached(nodeId, payload);
    if (event.type === 'provider.usage') this.#used(nodeId, payload);
    if (isTerminalType(event.type)) this.#endRun(event, payload);
    const ended = this.#ended;
    if (ended.length > 0) this.#ended = [];
    return ended;
  }

  /** True once the run has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The spans that have not ended, as they are now; children before their parents. */
  open(): readonly RunSpan[] {
    const spans: OpenSpan[] = [];
    for (const node of this.#nodes.values()) {
      spans.push(...node.calls.values(), ...node.interrupts.values());
      if (node.attempt !== null) spans.push(node.attempt);
      spans.push(node.span);
    }
    if (this.#run !== null) spans.push(this.#run);
    return spans.map((span) => span.view(null));
  }

  #startRun(event: SpanEvent, payload: JsonObject): void {
    const parent = parseTraceparent(payload.traceparent);
    this.#traceId = parent?.traceId ?? derivedTraceId(event.runId);
    const { common, own } = runAttributes(event.runId, payload);
    this.#common = common;
    this.#run = this.#begin(event, { name: 'openwop.run', kind: 'server', parentSpanId: parent?.spanId ?? null }, own);
  }

  /** A start of a node that is under way is another attempt; any other begins a new execution. */
  #startNode(event: SpanEvent, nodeId: string | undefined, payload: JsonObject): void {
    const typeId = textOf(payload.typeId);
    if (nodeId === undefined || typeId === undefined) return;
    const name = `openwop.node.${typeId}`;
    const attributes = {
      'openwop.node_id': nodeId,
      'openwop.node_type': typeId,
      'openwop.node_attempt': typeof payload.attempt === 'number' ? payload.attempt : 0,
    };
    const known = this.#nodes.get(nodeId);
    if (known !== undefined) this.#endAttempt(known, event.at, UNSET);
    const parentSpanId = this.#run?.start.spanId ?? null;
    const span = known?.span ?? this.#begin(event, { name, kind: 'internal', parentSpanId }, attributes);
    Object.assign(span.attributes, attributes);
    const place = { name: `${name}.attempt`, kind: 'internal', parentSpanId: span.start.spanId } as const;
    const attempt = this.#begin(event, place, attributes, 'attempt');
    if (known !== undefined) known.attempt = attempt;
    else this.#nodes.set(nodeId, { span, attempt, calls: new Map(), interrupts: new Map() });
  }

  /** Appending to the log leaves a note rather than a span of its own: the log does not say how long an append took. */
  #note({ type, seq, at }: SpanEvent, nodeId: string | undefined): void {
    const node = nodeId === undefined ? undefined : this.#nodes.get(nodeId);
    const attributes = { 'openwop.event_type': type, 'openwop.event_seq': seq };
    (node?.attempt ?? node?.span ?? this.#run)?.note(at, attributes);
    for (const span of [node?.span, node?.attempt]) if (span != null) span.attributes['openwop.event_seq'] = seq;
  }

  #ofNode(event: SpanEvent, nodeId: string, payload: JsonObject): void {
    const node = this.#nodes.get(nodeId);
    if (node === undefined) return;
    const { type, at } = event;
    if (nodeEnds.has(type)) {
      this.#nodes.delete(nodeId);
      this.#endNode(node, at, statusOf(type, payload));
    } else if (type === 'node.retried') this.#endAttempt(node, at, failure(payload.lastError));
    else if (type === 'interrupt.requested') this.#ask(event, nodeId, node, payload);
    else if (type === 'interrupt.resolved') {
      const status: SpanStatus = payload.reason === 'timeout' ? { code: 'error', message: 'timeout' } : OK;
      this.#endOne(node.interrupts, textOf(payload.interruptId), at, status);
    } else this.#call(event, node, payload);
  }

  #ask(event: SpanEvent, nodeId: string, node: OpenNode, payload: JsonObject): void {
    const interruptId = textOf(payload.interruptId);
    if (interruptId === undefined) return;
    const count = (this.#asked.get(nodeId) ?? 0) + 1;
    this.#asked.set(nodeId, count);
    const place = { name: 'openwop.interrupt', kind: 'internal', parentSpanId: node.span.start.spanId } as const;
    const span = this.#begin(event, place, {
      'openwop.node_id': nodeId,
      'openwop.interrupt_kind': textOf(payload.kind) ?? 'custom',
      'openwop.interrupt_id': interruptId,
      'openwop.interrupt_count': count,
    });
    this.#endOne(node.interrupts, interruptId, event.at, UNSET);
    node.interrupts.set(interruptId, span);
  }

  /** A call that is asked for again was interrupted: what became of the first is not known. */
  #call(event: SpanEvent, node: OpenNode, payload: JsonObject): void {
    const callId = textOf(payload.callId);
    if (callId === undefined) return;
    const call = startOfCall(event.type, payload);
    if (call !== undefined) {
      this.#endOne(node.calls, callId, event.at, { code: 'error', message: 'step_interrupted' });
      const { attributes } = node.span;
      const parentSpanId = (node.attempt ?? node.span).start.spanId;
      const place = {
        name: `openwop.activity.${call.provider}`,
        kind: 'client',
        parentSpanId,
      } as const;
      const span = this.#begin(event, place, {
        'openwop.node_id': attributes['openwop.node_id'] ?? '',
        'openwop.node_type': attributes['openwop.node_type'] ?? '',
        'openwop.node_attempt': attributes['openwop.node_attempt'] ?? 0,
        ...call.attributes,
      });
      node.calls.set(callId, span);
    } else if (callEnds.has(event.type)) {
      this.#endOne(node.calls, callId, event.at, payload.error === undefined ? OK : failure(payload.error));
    }
  }

  #used(nodeId: string | undefined, payload: JsonObject): void {
    const node = nodeId === undefined ? undefined : this.#nodes.get(nodeId);
    for (const span of [node?.attempt, node?.span, this.#run]) if (span != null) usageAttributes(span, payload);
  }

  #breached(nodeId: string | undefined, payload: JsonObject): void {
    const span = (nodeId === undefined ? undefined : this.#nodes.get(nodeId)?.span) ?? this.#run;
    const { kind, limit, observed } = payload;
    if (span === null || typeof kind !== 'string') return;
    span.attributes['openwop.cap_kind'] = kind;
    if (typeof limit === 'number') span.attributes['openwop.cap_limit'] = limit;
    if (typeof observed === 'number') span.attributes['openwop.cap_observed'] = observed;
  }

  #endRun({ type, at }: SpanEvent, payload: JsonObject): void {
    for (const node of this.#nodes.values()) this.#endNode(node, at, UNSET);
    this.#nodes.clear();
    if (this.#run !== null) this.#end(this.#run, at, statusOf(type, payload));
    this.#run = null;
    this.#isOver = true;
  }

  #endNode(node: OpenNode, at: number, status: SpanStatus): void {
    for (const span of node.interrupts.values()) this.#end(span, at, UNSET);
    this.#endAttempt(node, at, status);
    this.#end(node.span, at, status);
  }

  /** Its calls end with it. */
  #endAttempt(node: OpenNode, at: number, status: SpanStatus): void {
    for (const span of node.calls.values()) this.#end(span, at, UNSET);
    node.calls.clear();
    if (node.attempt !== null) this.#end(node.attempt, at, status);
    node.attempt = null;
  }

  #endOne(spans: Map<string, OpenSpan>, key: string | undefined, at: number, status: SpanStatus): void {
    const span = key === undefined ? undefined : spans.get(key);
    if (key === undefined || span === undefined) return;
    spans.delete(key);
    this.#end(span, at, status);
  }

  #end(span: OpenSpan, at: number, status: SpanStatus): void {
    if (status.code === 'error' && status.message !== undefined) span.attributes['error.type'] = status.message;
    this.#ended.push(span.view(at, status));
  }

  #begin(
    { runId, seq, at }: SpanEvent,
    place: Pick<RunSpan, 'name' | 'kind' | 'parentSpanId'>,
    attributes: Attributes,
    role: 'main' | 'attempt' = 'main',
  ): OpenSpan {
    const start = { ...place, traceId: this.#traceId, spanId: spanIdOf(runId, seq, role), startedAt: at };
    return new OpenSpan(start, { ...this.#common, ...attributes });
  }
}

const nodeEnds: ReadonlySet<string> = new Set(['node.completed', 'node.failed', 'node.skipped', 'node.cancelled']);
const callEnds: ReadonlySet<string> = new Set([
  'cairn.step.returned',
  'cairn.model.returned',
  'cairn.model.abandoned',
  'agent.toolReturned',
]);

function statusOf(type: string, payload: JsonObject): SpanStatus {
  if (type.endsWith('.completed')) return OK;
  return type.endsWith('.failed') ? failure(payload.error) : UNSET;
}

function failure(error: Json | undefined): SpanStatus {
  const code = textOf(objectOf(error).code);
  return { code: 'error', ...(code === undefined ? {} : { message: code }) };
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

const nothing: JsonObject = {};
const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : nothing;
