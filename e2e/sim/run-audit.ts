/** One run as stored in the log. Checks every committed row once, as it arrives. */
import { hash as digest } from 'node:crypto';
import {
  foldEventOf,
  foldRun,
  isJsonObject,
  isTerminalType,
  type Json,
  type JsonObject,
  newRunView,
  type RunId,
  type RunView,
  taskFace,
} from '@cairn/protocol';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';
import { PauseWatch } from './pause-watch.ts';

/** A call, as recorded in its rows. */
export interface AuditedCall {
  readonly safety: string;
  attempt: number;
  /** The latest attempt has a result or an error. */
  returned: boolean;
  /** An attempt has a successful result. The call must not change after that. */
  done: boolean;
  /** Attempts with a known outcome: they returned, or a person chose to continue as if they had. */
  settled: number;
  /** Puts a question to an agent above. A branch asks anew. */
  readonly isRoute: boolean;
}

type Payload = { readonly [key: string]: Json | undefined };

const sha256 = (text: string): string => digest('sha256', text, 'hex');

export class RunAudit {
  readonly runId: RunId;
  readonly rows: Row[] = [];
  readonly view: RunView;
  readonly calls = new Map<string, AuditedCall>();
  ended: string | null = null;
  #hash: string;
  #lastAt = 0;
  #lastCursor = 0;
  readonly #resolved = new Set<string>();
  /** Maps the interrupt about an interrupted write to its call. */
  readonly #questions = new Map<string, string>();
  readonly #timers = new Map<string, number>();
  /** Nodes whose time limit has fired but has not been handled. */
  readonly #overdue = new Set<string>();
  #pauses: PauseWatch;
  readonly #complain: Complain;
  readonly #count: (name: Interesting) => void;
  readonly #exists: (eventId: string) => boolean;

  /** `originRunId` is another run for a fork. */
  constructor(
    { runId, originRunId = runId }: { readonly runId: RunId; readonly originRunId?: RunId | undefined },
    world: { complain: Complain; count: (name: Interesting) => void; exists: (eventId: string) => boolean },
  ) {
    this.runId = runId;
    this.view = newRunView(runId);
    this.#hash = sha256(originRunId);
    this.#pauses = new PauseWatch(world);
    this.#complain = world.complain;
    this.#count = world.count;
    this.#exists = world.exists;
  }

  take(row: Row): void {
    this.#checkPlace(row);
    this.#checkChain(row);
    const event = foldEventOf(row);
    const payload: Payload = event.payload;
    const open = Object.keys(this.view.interrupts).length;
    if (row.type === 'cairn.cancel.requested') this.#countCancel();
    this.#watchPauses(row);
    foldRun(this.view, event);
    this.#checkFace(row, taskFace(this.view, event));
    this.rows.push(row);
    this.#checkCalls(row, payload);
    this.#checkInterrupts(row, payload);
    this.#noteOverdue(row, payload);
    this.#countEvent(row, payload);
    if (open === 1 && Object.keys(this.view.interrupts).length === 2) this.#count('two interrupts open at once');
    if (isTerminalType(row.type)) this.ended = row.type;
  }

  /** Begins with the rows that a fork shares: they were checked where they were written. */
  share(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#checkPlace(row);
      this.#checkChain(row);
      const event = foldEventOf(row);
      this.#watchPauses(row);
      foldRun(this.view, event);
      this.rows.push(row);
      this.#checkCalls(row, event.payload);
      this.#checkInterrupts(row, event.payload);
    }
  }

  /** A branch makes calls again that were open at the cut, and no pause of its source holds for it. */
  #watchPauses(row: Row): void {
    if (row.type !== 'cairn.run.forked') {
      this.#pauses.take(row, this.#isStepping());
      return;
    }
    this.#pauses = new PauseWatch({ complain: this.#complain, count: this.#count });
    for (const [callId, call] of this.calls) {
      if (call.isRoute) this.calls.delete(callId);
      else if (!call.returned) call.settled = call.attempt;
    }
  }

  get isPaused(): boolean {
    return this.#pauses.isPaused;
  }

  /** Called after the last row of an append. Checks what must hold for the append as a whole. */
  settle(): void {
    if (this.#overdue.size === 0) return;
    // Nothing wakes the run for the limit a second time, so an unhandled limit is lost.
    this.#complain('a time limit that fires is acted on in the same append', {
      runId: this.runId,
      seq: this.rows.length - 1,
      nodes: [...this.#overdue],
    });
  }

  #checkPlace(row: Row): void {
    const { runId, seq, at, cursor, cause } = row;
    const where = { runId, seq, type: row.type };
    if (seq !== this.rows.length) this.#complain('seq is dense', { ...where, expected: this.rows.length });
    if (this.ended !== null) this.#complain('the terminal event is the last', { ...where, ended: this.ended });
    if (seq === 0 && row.type !== 'run.started') this.#complain('a run begins with run.started', where);
    if (at < this.#lastAt) this.#complain('time never decreases in a run', { ...where, at, before: this.#lastAt });
    if (cursor <= this.#lastCursor) this.#complain('cursors increase', { ...where, cursor, before: this.#lastCursor });
    const known = cause === null || (typeof cause === 'number' ? cause >= 0 && cause < seq : this.#exists(cause));
    if (!known) this.#complain('a cause exists and is earlier', { ...where, cause });
    this.#lastAt = at;
    this.#lastCursor = cursor;
  }

  /** A second implementation of the hash recipe. Without it, a change to the store's own recipe would go unnoticed. */
  #checkChain(row: Row): void {
    const columns = [row.seq, row.at, row.type, row.nodeId, row.cause, row.audience];
    const own = sha256(`${JSON.stringify(columns)}\n${row.payload}`);
    this.#hash = sha256(this.#hash + own);
    if (own !== row.rowHash || this.#hash !== row.hash) {
      this.#complain('the hash chain holds', { runId: row.runId, seq: row.seq });
    }
  }

  /** A stored face is a projection: the rows alone give it again. */
  #checkFace({ runId, seq, type, task }: Row, face: JsonObject | null): void {
    const expected = face === null ? null : JSON.stringify(face);
    if (task !== expected) this.#complain('the task face follows from the rows', { runId, seq, type, task, expected });
  }

  #checkCalls(row: Row, payload: Payload): void {
    // The end of a child is not the result of a call. The start of the child was.
    if (row.type === 'cairn.step.returned' && payload.callId === payload.childRunId) return;
    const callId = String(payload.callId);
    const attempt = Number(payload.attempt);
    const call = this.calls.get(callId);
    const where = { runId: this.runId, seq: row.seq, callId, attempt };
    if (row.type === 'cairn.step.requested' || row.type === 'agent.toolCalled') {
      if (call === undefined) {
        const isRoute = payload.routes !== undefined;
        const safety = String(payload.safety);
        this.calls.set(callId, { safety, attempt, returned: false, done: false, settled: 0, isRoute });
        if (attempt !== 1) this.#complain('the first attempt of a call is 1', where);
        return;
      }
      this.#count(again(row, call));
      if (typeof row.cause === 'number' && this.rows[row.cause]?.type === 'run.paused') {
        this.#count('driven call cut short by a pause');
      }
      if (call.done) this.#complain('a call with a result is not asked for again', where);
      if (attempt !== call.attempt + 1) this.#complain('attempts count up', { ...where, before: call.attempt });
      if (call.safety === 'write' && call.settled < call.attempt) {
        this.#complain('a write whose end is unknown is asked for again only by a human', where);
      }
      call.attempt = attempt;
      call.returned = false;
    } else if (row.type === 'cairn.tool.progress') {
      if (call === undefined || call.returned) this.#complain('what a call emits comes before its result', where);
    } else if (row.type === 'cairn.step.returned' || row.type === 'agent.toolReturned') {
      if (call === undefined) this.#complain('a result answers a request', where);
      else {
        if (call.returned) this.#complain('an attempt has one result', where);
        if (attempt !== call.attempt) this.#complain('the latest attempt returns', { ...where, asked: call.attempt });
        call.returned = true;
        call.done = payload.error === undefined;
        call.settled += 1;
      }
      if (payload.error !== undefined) this.#count('step returned an error');
    }
  }

  #checkInterrupts(row: Row, payload: Payload): void {
    const interruptId = String(payload.interruptId);
    if (row.type === 'interrupt.requested') {
      const data = objectOr(payload.data);
      if (data.customKind === 'cairn.step.interrupted') {
        this.#count('interrupted write left to a human');
        this.#questions.set(interruptId, String(objectOr(data.payload).callId));
      }
    } else if (row.type === 'interrupt.resolved') {
      if (this.#resolved.has(interruptId)) {
        this.#complain('an interrupt is resolved once', { runId: this.runId, seq: row.seq, interruptId });
      }
      this.#resolved.add(interruptId);
      if (payload.reason === 'timeout') this.#count('interrupt expired');
      if (payload.agentId !== undefined) this.#count('agent above answered');
      const call = this.calls.get(this.#questions.get(interruptId) ?? '');
      if (call !== undefined && objectOr(payload.resumeValue).action === 'retry') {
        this.#count('human let a write run again');
        call.settled += 1;
      }
    }
  }

  #noteOverdue(row: Row, payload: Payload): void {
    if (row.type === 'cairn.timer.fired' && payload.purpose === 'node-timeout') this.#overdue.add(row.nodeId ?? '');
    if (nodeEnds.has(row.type)) this.#overdue.delete(row.nodeId ?? '');
    if (isTerminalType(row.type)) this.#overdue.clear();
  }

  #countCancel(): void {
    if (this.view.status.startsWith('waiting')) this.#count('cancel while suspended');
    if (this.#isStepping()) this.#count('cancel while a step runs');
  }

  #isStepping(): boolean {
    for (const call of this.calls.values()) if (!call.returned) return true;
    return false;
  }

  #countEvent(row: Row, payload: Payload): void {
    const simple = eventNames[row.type];
    if (simple !== undefined) this.#count(simple);
    if (row.type === 'cairn.timer.set') this.#timers.set(String(payload.timerId), Date.parse(String(payload.fireAt)));
    if (row.type === 'cairn.timer.fired') {
      if (payload.purpose === 'delay') this.#count('delay fired');
      const fireAt = this.#timers.get(String(payload.timerId));
      if (fireAt !== undefined && row.at > fireAt + 1000) this.#count('timer fired late');
      if (payload.purpose === 'node-timeout') this.#count('node timed out');
      if (payload.purpose === 'run-timeout') this.#count('run timed out');
    }
    if (row.type === 'cap.breached' && payload.kind === 'node-executions') this.#count('execution limit');
    if (row.type === 'node.started' && Number(payload.visit) > 0) this.#count('loop turned');
    if (row.type === 'run.completed' && this.rows.some(({ type }) => type === 'node.failed')) {
      this.#count('branch survived a failure');
    }
  }
}

function again({ type }: Row, { isRoute }: AuditedCall): Interesting {
  if (isRoute) return 'agent above asked again';
  return type === 'agent.toolCalled' ? 'driven call asked for again' : 'step asked for again';
}

const objectOr = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

const nodeEnds = new Set(['node.completed', 'node.failed', 'node.retried', 'node.cancelled', 'node.skipped']);

const eventNames: Readonly<Record<string, Interesting>> = {
  'node.retried': 'node retried',
  'node.skipped': 'node skipped',
  'workflow.loopback-limit': 'back edge limit',
  'run.completed': 'run completed',
  'run.failed': 'run failed',
  'run.cancelled': 'run cancelled',
  'cairn.input.forwarded': 'question forwarded to people',
};
