/**
 * The facts of a record by what they are about: a call, a child, an interrupt, a timer. After a divergence the events no
 * longer stand at the recorded places, so open work finds its result here. Holds positions only, never payloads.
 */
import { isCallRequest, isCallResult, isJsonObject, isStreamedPiece, type JsonObject } from '@cairn/protocol';
import type { RunState } from '../core/state.ts';
import { payloadOf, type RecordedRow } from './recorded-row.ts';

/** The rows of one recorded fact, in order. The last one completes it. */
export interface RecordedFact {
  readonly kind: 'call' | 'child' | 'answer' | 'timer' | 'cancel';
  /** The id of the call, child, interrupt or timer. */
  readonly id: string;
  /** For a call: the attempt that ended. */
  readonly attempt: number;
  readonly seqs: readonly number[];
}

const answers: ReadonlySet<string> = new Set([
  'interrupt.resolved',
  'approval.received',
  'clarification.resolved',
  'node.resumed',
]);

export class RecordedWork {
  readonly #facts = new Map<string, RecordedFact[]>();
  /** The call of each request, by the position of the request. */
  readonly #requested = new Map<number, string>();
  /** Rows of a fact that is not complete yet. */
  readonly #begun = new Map<string, number[]>();
  /** The interrupt of each conversation. */
  readonly #conversations = new Map<string, string>();
  /** Rows that name nothing and belong to the next fact, such as sealed values. */
  #loose: number[] = [];

  add(row: RecordedRow): void {
    const { type, seq, cause } = row;
    if (isStreamedPiece(type)) return;
    if (type === 'cairn.cancel.requested') this.#complete('cancel', 'run', row, 0);
    else if (type === 'cairn.timer.fired') this.#complete('timer', String(payloadOf(row).timerId), row, 0);
    else if (type === 'cairn.values.sealed' || type === 'node.dispatched') this.#loose.push(seq);
    else if (type === 'cairn.budget.returned') this.#loose.push(seq);
    else if (type === 'core.workflowChain.event') this.#addChain(row);
    else if (type === 'interrupt.requested') this.#addQuestion(payloadOf(row));
    else if (isCallRequest(type)) this.#requested.set(seq, String(payloadOf(row).callId));
    else if (isCallResult(type)) this.#addResult(row, payloadOf(row));
    else if (answers.has(type)) this.#addAnswer(row, payloadOf(row));
    else if (type === 'conversation.exchanged') this.#addTurn(row);
    else if (typeof cause === 'number') this.#addCaused(row, cause);
  }

  /** The recorded fact about open work that came first, or null if the record has none. */
  nextFor(state: RunState): RecordedFact | null {
    let first: RecordedFact | null = null;
    const offer = (fact: RecordedFact | null | undefined) => {
      if (fact == null || (first !== null && lastOf(fact) >= lastOf(first))) return;
      first = fact;
    };
    for (const [callId, call] of state.calls) {
      if (call.asked === undefined) offer(this.#resultOf(callId, call.attempt));
    }
    for (const childRunId in state.children) offer(this.#of('child', childRunId));
    for (const interruptId in state.view.interrupts) offer(this.#of('answer', interruptId));
    for (const timerId in state.timers) offer(this.#of('timer', timerId));
    if (state.cancel === null) offer(this.#of('cancel', 'run'));
    return first;
  }

  hasResult(callId: string, attempt: number): boolean {
    return this.#resultOf(callId, attempt) !== null;
  }

  has(kind: 'child' | 'answer', id: string): boolean {
    return this.#of(kind, id) !== null;
  }

  /** A repetition after a crash is not repeated here, so a later attempt may have the result. */
  #resultOf(callId: string, attempt: number): RecordedFact | null {
    return this.#facts.get(`call ${callId}`)?.find((fact) => fact.attempt >= attempt) ?? null;
  }

  #of(kind: RecordedFact['kind'], id: string): RecordedFact | null {
    return this.#facts.get(`${kind} ${id}`)?.[0] ?? null;
  }

  #complete(kind: RecordedFact['kind'], id: string, { seq }: RecordedRow, attempt: number): void {
    const key = `${kind} ${id}`;
    const seqs = [...(this.#begun.get(key) ?? []), ...this.#loose, seq].sort((a, b) => a - b);
    this.#begun.delete(key);
    this.#loose = [];
    const known = this.#facts.get(key);
    if (known === undefined) this.#facts.set(key, [{ kind, id, attempt, seqs }]);
    else known.push({ kind, id, attempt, seqs });
  }

  #begin(key: string, seq: number): void {
    const begun = this.#begun.get(key);
    if (begun === undefined) this.#begun.set(key, [seq]);
    else begun.push(seq);
  }

  #addResult(row: RecordedRow, { callId, attempt, childRunId, of }: JsonObject): void {
    // A tool call may record what it has learnt on the way.
    if (typeof of === 'string') this.#begin(`call ${of}`, row.seq);
    else if (callId === childRunId) this.#complete('child', String(childRunId), row, 0);
    else this.#complete('call', String(callId), row, Number(attempt));
  }

  #addQuestion({ interruptId, data }: JsonObject): void {
    if (!isJsonObject(data) || typeof data.conversationId !== 'string') return;
    this.#conversations.set(data.conversationId, String(interruptId));
  }

  /** Votes, the resolution and its companions are one fact. */
  #addAnswer(row: RecordedRow, { interruptId }: JsonObject): void {
    const id = String(interruptId);
    const resolved = this.#facts.get(`answer ${id}`)?.[0];
    if (resolved !== undefined) this.#facts.set(`answer ${id}`, [{ ...resolved, seqs: [...resolved.seqs, row.seq] }]);
    else if (row.type === 'interrupt.resolved') this.#complete('answer', id, row, 0);
    else this.#begin(`answer ${id}`, row.seq);
  }

  #addTurn(row: RecordedRow): void {
    const interruptId = this.#conversations.get(String(payloadOf(row).conversationId));
    if (interruptId !== undefined) this.#begin(`answer ${interruptId}`, row.seq);
  }

  /** The start of a child is told before its result; other events of a chain are decisions. */
  #addChain(row: RecordedRow): void {
    const { phase } = payloadOf(row);
    if (phase === 'dispatch.succeeded' || phase === 'dispatch.failed') this.#loose.push(row.seq);
  }

  #addCaused({ seq }: RecordedRow, cause: number): void {
    const callId = this.#requested.get(cause);
    if (callId !== undefined) this.#begin(`call ${callId}`, seq);
  }
}

const lastOf = ({ seqs }: RecordedFact): number => seqs.at(-1) ?? 0;
