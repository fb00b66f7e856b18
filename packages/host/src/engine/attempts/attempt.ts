/** One attempt of a call: runs its performer, records its emissions, and turns its outcome into a result. */
import { type ContextId, invariant, type Json, type JsonObject, type RunId } from '@cairn/protocol';
import { emitted, type Fact, type ReusedFrom } from '../core/facts.ts';
import type { OpenCall, RunError } from '../core/state.ts';
import type { Reuse } from '../fork/reuse.ts';
import type { CallContext, Clock, Emission, Performer, Redactor, Sha256 } from '../ports.ts';
import type { RunSecrets, SecretsOf } from '../sensitive/run-secrets.ts';
import type { SealPorts } from '../sensitive/seal-inputs.ts';
import type { TenantShares } from '../shares/tenant-shares.ts';
import { refsIn } from '../values/large-values.ts';
import type { CallResult } from '../workflow/driven-calls.ts';
import { redactedEmissions } from './redacted-emissions.ts';
import { recordable, smallResult, stepError } from './step-result.ts';

export interface AttemptPorts {
  readonly clock: Clock;
  readonly sha256: Sha256;
  readonly tenant: string;
  readonly runId: RunId;
  readonly contextId: ContextId;
  /** Redacts a step's output before it is measured, truncated or recorded. */
  readonly redactor: Redactor | null;
  readonly secretsOf: SecretsOf;
  readonly sealing: SealPorts;
  /** Posts the facts that record a call's emissions and its result. */
  readonly post: (fact: Fact) => void;
  readonly shares: TenantShares;
  /** A replay takes every result from its record. To start an attempt for it is a defect. */
  readonly isReplay: boolean;
}

interface Cancel {
  readonly error: RunError;
  readonly ended: PromiseWithResolvers<void>;
  /** Stops the clock of the grace. */
  readonly off: () => void;
}

/** How long a canceled call may take to end by itself. */
const GRACE_MS = 2_000;

/** The guard of every effect: models, tools, steps and child runs are all performed by attempts. */
export function refuseInReplay(
  { isReplay, runId }: AttemptPorts,
  { callId, nodeId }: Pick<OpenCall, 'callId' | 'nodeId'>,
) {
  invariant(!isReplay, 'replay-performs-nothing', { runId, nodeId, callId });
}

/**
 * The attempt is also the context passed to its function. It is a class because every step creates one, and an object
 * literal would define its accessors anew each time.
 */
export class Attempt implements CallContext {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly callId: string;
  readonly attempt: number;
  readonly requestedSeq: number;
  readonly #step: string;
  readonly #ports: AttemptPorts;
  readonly #secrets: RunSecrets | null;
  readonly #reuse: Reuse | null;
  readonly #returned: (result: CallResult, reusedFrom?: ReusedFrom) => void;
  /** The row whose result the attempt has taken. */
  #reusedFrom: ReusedFrom | undefined;
  #controller: AbortController | null = null;
  #isOver = false;
  /** Set by `cancel`: how the attempt ends, and who waits for that. */
  #cancel: Cancel | null = null;
  /** It occupies one of the tenant's slots for calls. */
  #hasSlot = false;
  /** Number of emissions that are not durable yet. `#room` resolves once more emissions are allowed. */
  #unrecorded = 0;
  #room: PromiseWithResolvers<void> | null = null;
  #allRecorded: PromiseWithResolvers<void> | null = null;
  /** The first error of an emission, kept until the call asks for it. */
  #refusal: unknown = null;
  /** Called when an emission is recorded or refused. Created lazily, because most calls emit nothing. */
  #emissionEnded: ((refusal: unknown) => void) | null = null;

  constructor(
    call: OpenCall,
    { ports, secrets, reuse = null }: { ports: AttemptPorts; secrets: RunSecrets | null; reuse?: Reuse | null },
    returned: (result: CallResult, reusedFrom?: ReusedFrom) => void,
  ) {
    this.runId = ports.runId;
    this.nodeId = call.nodeId;
    this.callId = call.callId;
    this.attempt = call.attempt;
    this.requestedSeq = call.requestedSeq;
    this.#step = call.step;
    this.#ports = ports;
    this.#secrets = secrets;
    this.#reuse = reuse;
    this.#returned = returned;
  }

  get tenant(): string {
    return this.#ports.tenant;
  }

  get contextId(): ContextId {
    return this.#ports.contextId;
  }

  get redactor(): Redactor | null {
    return this.#secrets === null ? this.#ports.redactor : this.#secrets.redactor;
  }

  open<Value>(value: Value): Value {
    return this.#secrets === null ? value : this.#secrets.open(value);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls the performer, in a slot that the caller took. Reports the result once, asynchronously, unless the attempt is aborted first. */
  run(performer: Performer, input: JsonObject): void {
    refuseInReplay(this.#ports, this);
    this.#hasSlot = true;
    if (this.#reuse === null) this.#perform(performer, input);
    else void this.#performUnlessRecorded(this.#reuse, performer, input);
  }

  async #performUnlessRecorded(reuse: Reuse, performer: Performer, input: JsonObject): Promise<void> {
    try {
      const found = await reuse.own();
      if (this.#isOver) return;
      // An artifact of the source may not be in the context of the branch.
      if (found === null || hasRefs(found.result)) this.#perform(performer, input);
      else {
        this.#reusedFrom = found.from;
        this.#end(found.result);
      }
    } catch (error) {
      this.#end({ error: stepError(error, this.redactor) });
    }
  }

  async reusable(key: string): Promise<Json | null> {
    const found = (await this.#reuse?.find(key)) ?? null;
    if (found === null || !('outcome' in found.result) || hasRefs(found.result)) return null;
    this.#reusedFrom = found.from;
    return found.result.outcome;
  }

  #perform(performer: Performer, input: JsonObject): void {
    const { redactor } = this;
    const failed = (error: unknown) => this.#end({ error: stepError(error, redactor) });
    let running: Promise<unknown>;
    try {
      running = Promise.resolve(performer.run(performer.keepsSealed === true ? input : this.open(input), this));
    } catch (error) {
      running = Promise.reject(error);
    }
    running.then((outcome) => {
      const small = smallResult(outcome, redactor);
      if (small !== null) this.#end(small);
      else if (performer.shrink === undefined) this.#recordInTurn(performer.typeId, outcome);
      else performer.shrink(outcome, this).then((fitting) => this.#recordInTurn(performer.typeId, fitting), failed);
    }, failed);
  }

  /** A hundred large results may arrive in one turn of the event loop. */
  #recordInTurn(step: string, outcome: unknown): void {
    const { shares, tenant } = this.#ports;
    const { redactor } = this;
    void shares.longWork.take(tenant, () => {
      if (!this.#isOver) this.#end(recordable(step, outcome, redactor));
    });
  }

  #end(result: CallResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#freeSlot();
    if (this.#cancel === null) this.#returned(result, this.#reusedFrom);
    else this.#endCanceled(this.#cancel);
  }

  #endCanceled({ error, ended, off }: Cancel): void {
    off();
    this.#returned({ error });
    ended.resolve();
  }

  get isCanceled(): boolean {
    return this.#cancel !== null;
  }

  /**
   * Aborts the signal and waits until the performer has ended, at most for the grace. Whatever it returns, the attempt
   * ends with this error. Resolves once the attempt is over.
   */
  cancel(error: RunError): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    if (this.#cancel !== null) return this.#cancel.ended.promise;
    const { clock } = this.#ports;
    const ended = Promise.withResolvers<void>();
    const giveUp = () => this.#end({ error });
    this.#cancel = { error, ended, off: clock.wakeAt(clock.now() + GRACE_MS, giveUp) };
    // An attempt that still waits for a slot has nothing to wind up.
    if (!this.#hasSlot) giveUp();
    this.#controller?.abort(new Error('The call was canceled.'));
    return ended.promise;
  }

  #freeSlot(): void {
    if (!this.#hasSlot) return;
    this.#hasSlot = false;
    this.#ports.shares.endCall(this.#ports.tenant);
  }

  abort(reason: string): void {
    this.#isOver = true;
    this.#cancel?.off();
    this.#cancel?.ended.resolve();
    this.#freeSlot();
    this.#controller?.abort(new Error(reason));
    this.#room?.resolve();
    this.#allRecorded?.reject(new Error(reason));
  }

  emit(rows: readonly Emission[]): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    this.#unrecorded += 1;
    const { post } = this.#ports;
    const clean = redactedEmissions(rows, this.redactor);
    this.#emissionEnded ??= (refusal) => this.#endEmission(refusal);
    post(emitted(this.callId, this.attempt, clean, this.#emissionEnded));
    if (this.#unrecorded < this.#window) return this.#ports.shares.emitted(this.#ports.tenant, rows.length);
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  get #window(): number {
    return this.#ports.shares.emissionWindow(this.#ports.tenant);
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
    if (this.#room !== null && this.#unrecorded <= this.#window / 2) {
      this.#room.resolve();
      this.#room = null;
    }
    if (this.#unrecorded > 0 || this.#allRecorded === null) return;
    if (this.#refusal === null) this.#allRecorded.resolve();
    else this.#allRecorded.reject(this.#takeRefusal());
    this.#allRecorded = null;
  }

  /** Computed lazily, like the signal: most steps use neither. */
  get idempotencyKey(): string {
    const { tenant, sha256 } = this.#ports;
    const fields = ['openwop:activity:v2', tenant, this.runId, this.nodeId, this.callId, this.#step];
    return sha256(fields.join('\0'), 'base64url');
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver || this.#cancel !== null) this.#controller.abort();
    return this.#controller.signal;
  }
}

const hasRefs = (result: CallResult): boolean => 'outcome' in result && refsIn(result.outcome).length > 0;
