/** The spans of a run as a pure view of its log: the same events always yield the same spans and ids. */
import type { EventOf, FoldEvent, RunId } from '@cairn/protocol';
import { derivedTraceId, parseTraceparent, spanIdOf } from '../trace-context.ts';
import { forkSpan, type Lineage } from './fork-span.ts';
import {
  type CallStart,
  callAttributes,
  callProvider,
  runAttributes,
  sideTurnAttributes,
  turnAttributes,
  usageAttributes,
} from './span-attributes.ts';
import { breach, failure, nodeOf } from './span-events.ts';
import { type Attributes, OpenSpan, type RunSpan, type SpanStatus } from './span-model.ts';

/** A node's span and the open spans below it, which end with it at the latest. */
interface OpenNode {
  readonly span: OpenSpan;
  /** Null between two attempts. */
  attempt: OpenSpan | null;
  readonly calls: Map<string, OpenSpan>;
  readonly interrupts: Map<string, OpenSpan>;
}

const OK: SpanStatus = { code: 'ok' };
const UNSET: SpanStatus = { code: 'unset' };
const TIMEOUT: SpanStatus = { code: 'error', message: 'timeout' };
const INTERRUPTED: SpanStatus = { code: 'error', message: 'step_interrupted' };

/** Text chunks are too many to note one by one; the rows that close them are noted. */
export const isPiece = (type: string): boolean => type === 'output.chunk' || type === 'agent.reasoning.delta';

/** Folds a run's events in order and returns each span once, when it ends, children before parents. */
export class SpanFold {
  readonly #runId: RunId;
  readonly #record: Lineage | null;
  #traceId = '';
  #run: OpenSpan | null = null;
  /** Attributes of every span of the run. */
  #common: Attributes = {};
  readonly #nodes = new Map<string, OpenNode>();
  /** Number of interrupts requested by each node. */
  readonly #asked = new Map<string, number>();
  #ended: RunSpan[] = [];
  #isOver = false;

  constructor(runId: RunId, record: Lineage | null = null) {
    this.#runId = runId;
    this.#record = record;
  }

  take(event: FoldEvent): readonly RunSpan[] {
    if (isPiece(event.type)) return [];
    if (event.type === 'run.started') this.#startRun(event);
    if (this.#run === null) return [];
    const nodeId = nodeOf(event);
    if (event.type === 'node.started') this.#startNode(event, nodeId);
    this.#note(event, nodeId);
    const node = nodeId === undefined ? undefined : this.#nodes.get(nodeId);
    if (nodeId !== undefined && node !== undefined) this.#ofNode(event, nodeId, node);
    this.#ofRun(event, node);
    const ended = this.#ended;
    if (ended.length > 0) this.#ended = [];
    return ended;
  }

  /** True once the run has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Nodes with open spans: what the fold takes in memory. */
  get openNodes(): number {
    return this.#nodes.size;
  }

  /** Snapshots of the open spans; children before parents. */
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

  #startRun(event: EventOf<'run.started'>): void {
    const { common, own } = runAttributes(this.#runId, event.payload);
    this.#common = common;
    const place = { name: 'openwop.run', kind: 'server' } as const;
    const parent = parseTraceparent(event.payload.traceparent);
    const forked = this.#record === null ? null : forkSpan(this.#record, parent?.traceId);
    if (forked === null) {
      this.#traceId = parent?.traceId ?? derivedTraceId(this.#runId);
      this.#run = this.#begin(event, { ...place, parentSpanId: parent?.spanId ?? null }, own);
      return;
    }
    // A fork is a trace of its own: the request that started its source did not ask for it.
    this.#traceId = derivedTraceId(this.#runId);
    const { link, attributes, notBefore } = forked;
    const at = Math.max(event.at, notBefore);
    this.#run = this.#begin({ ...event, at }, { ...place, parentSpanId: null, link }, { ...own, ...attributes });
  }

  /** A start of an open node is another attempt; any other start begins a new execution. */
  #startNode(event: EventOf<'node.started'>, nodeId: string | undefined): void {
    const { typeId, attempt: number = 0 } = event.payload;
    if (nodeId === undefined) return;
    const name = `openwop.node.${typeId}`;
    const attributes = { 'openwop.node_id': nodeId, 'openwop.node_type': typeId, 'openwop.node_attempt': number };
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

  /** An append adds a note instead of a span, because the log does not record how long an append took. */
  #note({ type, seq, at }: FoldEvent, nodeId: string | undefined): void {
    const node = nodeId === undefined ? undefined : this.#nodes.get(nodeId);
    const attributes = { 'openwop.event_type': type, 'openwop.event_seq': seq };
    (node?.attempt ?? node?.span ?? this.#run)?.note(at, attributes);
    for (const span of [node?.span, node?.attempt]) if (span != null) span.attributes['openwop.event_seq'] = seq;
  }

  #ofNode(event: FoldEvent, nodeId: string, node: OpenNode): void {
    const { at } = event;
    switch (event.type) {
      case 'node.completed':
        this.#endNode(nodeId, node, at, OK);
        break;
      case 'node.failed':
        this.#endNode(nodeId, node, at, failure(event.payload.error));
        break;
      case 'node.skipped':
      case 'node.cancelled':
        this.#endNode(nodeId, node, at, UNSET);
        break;
      case 'node.retried':
        this.#endAttempt(node, at, failure(event.payload.lastError));
        break;
      case 'interrupt.requested':
        this.#ask(event, nodeId, node);
        break;
      case 'interrupt.resolved': {
        const { interruptId, reason } = event.payload;
        this.#endOne(node.interrupts, interruptId, at, reason === 'timeout' ? TIMEOUT : OK);
        break;
      }
      case 'cairn.step.requested':
      case 'cairn.model.requested':
      case 'agent.toolCalled':
        this.#startCall(event, node);
        break;
      case 'cairn.step.returned':
      case 'cairn.model.returned':
      case 'agent.toolReturned': {
        const { callId, error } = event.payload;
        const span = node.calls.get(callId);
        if (event.type === 'cairn.model.returned' && span !== undefined) turnAttributes(span, event.payload);
        if (event.type === 'cairn.step.returned' && span !== undefined) sideTurnAttributes(span, event.payload);
        this.#endOne(node.calls, callId, at, error === undefined ? OK : failure(error));
        break;
      }
      case 'cairn.model.abandoned':
        this.#endOne(node.calls, event.payload.callId, at, OK);
        break;
    }
  }

  #ofRun(event: FoldEvent, node: OpenNode | undefined): void {
    switch (event.type) {
      case 'cap.breached':
        breach(node?.span ?? this.#run, event.payload);
        break;
      case 'provider.usage':
        for (const span of [node?.attempt, node?.span, this.#run])
          if (span != null) usageAttributes(span, event.payload);
        break;
      case 'replay.diverged':
      case 'replay.divergedAtRefusal':
        if (this.#run !== null) this.#run.attributes['openwop.replay.diverged'] = true;
        break;
      case 'run.completed':
        this.#endRun(event.at, OK);
        break;
      case 'run.failed':
        this.#endRun(event.at, failure(event.payload.error));
        break;
      case 'run.cancelled':
        this.#endRun(event.at, UNSET);
        break;
    }
  }

  #ask(event: EventOf<'interrupt.requested'>, nodeId: string, node: OpenNode): void {
    const { interruptId, kind } = event.payload;
    if (interruptId === undefined) return;
    const count = (this.#asked.get(nodeId) ?? 0) + 1;
    this.#asked.set(nodeId, count);
    const place = { name: 'openwop.interrupt', kind: 'internal', parentSpanId: node.span.start.spanId } as const;
    const span = this.#begin(event, place, {
      'openwop.node_id': nodeId,
      'openwop.interrupt_kind': kind,
      'openwop.interrupt_id': interruptId,
      'openwop.interrupt_count': count,
    });
    this.#endOne(node.interrupts, interruptId, event.at, UNSET);
    node.interrupts.set(interruptId, span);
  }

  /** A second request with the same call id means an interruption: the result of the first call is unknown. */
  #startCall(event: CallStart, node: OpenNode): void {
    const { callId } = event.payload;
    this.#endOne(node.calls, callId, event.at, INTERRUPTED);
    const { attributes } = node.span;
    const place = {
      name: `openwop.activity.${callProvider(event)}`,
      kind: 'client',
      parentSpanId: (node.attempt ?? node.span).start.spanId,
    } as const;
    const span = this.#begin(event, place, {
      'openwop.node_id': attributes['openwop.node_id'] ?? '',
      'openwop.node_type': attributes['openwop.node_type'] ?? '',
      'openwop.node_attempt': attributes['openwop.node_attempt'] ?? 0,
      ...callAttributes(event),
    });
    node.calls.set(callId, span);
  }

  #endRun(at: number, status: SpanStatus): void {
    for (const [nodeId, node] of this.#nodes) this.#endNode(nodeId, node, at, UNSET);
    if (this.#run !== null) this.#end(this.#run, at, status);
    this.#run = null;
    this.#isOver = true;
  }

  #endNode(nodeId: string, node: OpenNode, at: number, status: SpanStatus): void {
    this.#nodes.delete(nodeId);
    for (const span of node.interrupts.values()) this.#end(span, at, UNSET);
    this.#endAttempt(node, at, status);
    this.#end(node.span, at, status);
  }

  /** Ends the attempt and its calls. */
  #endAttempt(node: OpenNode, at: number, status: SpanStatus): void {
    for (const span of node.calls.values()) this.#end(span, at, UNSET);
    node.calls.clear();
    if (node.attempt !== null) this.#end(node.attempt, at, status);
    node.attempt = null;
  }

  #endOne(spans: Map<string, OpenSpan>, key: string, at: number, status: SpanStatus): void {
    const span = spans.get(key);
    if (span === undefined) return;
    spans.delete(key);
    this.#end(span, at, status);
  }

  #end(span: OpenSpan, at: number, status: SpanStatus): void {
    if (status.code === 'error' && status.message !== undefined) span.attributes['error.type'] = status.message;
    this.#ended.push(span.view(at, status));
  }

  #begin(
    { seq, at }: FoldEvent,
    place: Pick<RunSpan, 'name' | 'kind' | 'parentSpanId'> & Partial<Pick<RunSpan, 'link'>>,
    attributes: Attributes,
    role: 'main' | 'attempt' = 'main',
  ): OpenSpan {
    const start = {
      link: null,
      ...place,
      traceId: this.#traceId,
      spanId: spanIdOf(this.#runId, seq, role),
      startedAt: at,
    };
    return new OpenSpan(start, { ...this.#common, ...attributes });
  }
}
