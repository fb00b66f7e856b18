/** One attempt of one call: runs its performer, records what it emits, and turns whatever it does into a result. */
import type { ContextId, JsonObject, RunId } from '@cairn/protocol';
import { emitted, type Fact } from '../core/facts.ts';
import type { OpenCall, StepResult } from '../core/state.ts';
import type { CallContext, Emission, Performer, Redactor, Sha256 } from '../ports.ts';
import { recordable, stepError } from './step-result.ts';

export interface AttemptPorts {
  readonly tenant: string;
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly sha256: Sha256;
  /** What a step brings is redacted before it is measured, cut or recorded. */
  readonly redactor: Redactor | null;
  /** Records what a call writes while it is under way, and its result. */
  readonly post: (fact: Fact) => void;
}

/** Emissions of one call that may be on their way to the log before the call has to wait. */
const EMISSION_WINDOW = 512;

/**
 * The attempt is also the context that its function gets. A class, because there is one for every step, and an object
 * literal with accessors would define them anew each time.
 */
export class Attempt implements CallContext {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly callId: string;
  readonly attempt: number;
  readonly requestedSeq: number;
  readonly #step: string;
  readonly #ports: AttemptPorts;
  readonly #returned: (result: StepResult) => void;
  #controller: AbortController | null = null;
  #isOver = false;
  /** Emissions that are not durable yet, and the promise of room for more. */
  #unrecorded = 0;
  #room: PromiseWithResolvers<void> | null = null;
  #allRecorded: PromiseWithResolvers<void> | null = null;
  /** Why an emission was not recorded, until the call asks. */
  #refusal: unknown = null;
  /** Told of each emission; most calls make none. */
  #emissionEnded: ((refusal: unknown) => void) | null = null;

  constructor(call: OpenCall, ports: AttemptPorts, returned: (result: StepResult) => void) {
    this.runId = ports.runId;
    this.nodeId = call.nodeId;
    this.callId = call.callId;
    this.attempt = call.attempt;
    this.requestedSeq = call.requestedSeq;
    this.#step = call.step;
    this.#ports = ports;
    this.#returned = returned;
  }

  get tenant(): string {
    return this.#ports.tenant;
  }

  get contextId(): ContextId {
    return this.#ports.contextId;
  }

  /** Calls the performer. Its result comes once, later, unless the attempt is aborted before. */
  run(performer: Performer, input: JsonObject): void {
    const { redactor } = this.#ports;
    const failed = (error: unknown) => this.#end({ error: stepError(error, redactor) });
    let running: Promise<unknown>;
    try {
      running = Promise.resolve(performer.run(input, this));
    } catch (error) {
      running = Promise.reject(error);
    }
    running.then((outcome) => this.#end(recordable(performer.typeId, outcome, redactor)), failed);
  }

  #end(result: StepResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#returned(result);
  }

  abort(reason: string): void {
    this.#isOver = true;
    this.#controller?.abort(new Error(reason));
    this.#room?.resolve();
    this.#allRecorded?.reject(new Error(reason));
  }

  emit(rows: readonly Emission[]): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    this.#unrecorded += 1;
    const { redactor, post } = this.#ports;
    const clean = redactor === null ? rows : redactor.value(rows);
    this.#emissionEnded ??= (refusal) => this.#endEmission(refusal);
    post(emitted(this.callId, this.attempt, clean, this.#emissionEnded));
    if (this.#unrecorded < EMISSION_WINDOW) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  recorded(): Promise<void> {
    if (this.#isOver) return Promise.reject(new Error('This attempt is over.'));
    if (this.#unrecorded === 0) return this.#refusal === null ? Promise.resolve() : Promise.reject(this.#takeRefusal());
    if (this.#allRecorded === null) {
      this.#allRecorded = Promise.withResolvers<void>();
      // The call may have stopped waiting by the time the attempt is aborted.
      this.#allRecorded.promise.catch(() => undefined);
    }
    return this.#allRecorded.promise;
  }

  #takeRefusal(): unknown {
    const refusal = this.#refusal;
    this.#refusal = null;
    return refusal;
  }

  #endEmission(refusal: unknown): void {
    this.#unrecorded -= 1;
    this.#refusal ??= refusal;
    if (this.#room !== null && this.#unrecorded <= EMISSION_WINDOW / 2) {
      this.#room.resolve();
      this.#room = null;
    }
    if (this.#unrecorded > 0 || this.#allRecorded === null) return;
    if (this.#refusal === null) this.#allRecorded.resolve();
    else this.#allRecorded.reject(this.#takeRefusal());
    this.#allRecorded = null;
  }

  /** Made when asked for, as the signal is: most steps use neither. */
  get idempotencyKey(): string {
    const { tenant, sha256 } = this.#ports;
    const fields = ['openwop:activity:v2', tenant, this.runId, this.nodeId, this.callId, this.#step];
    return sha256(fields.join('\0'), 'base64url');
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }
}
