/** Performs effects: calls a step's function, and turns whatever it does into a result that can be recorded. */
import {
  type ContextId,
  isCairnError,
  type Json,
  type JsonObject,
  quoted,
  type RunId,
  thrownText,
} from '@cairn/protocol';
import { emitted, type Fact } from '../core/facts.ts';
import type { OpenCall, RunError, StepResult } from '../core/state.ts';
import type { CallContext, Emission, Performer, Redactor, Sha256 } from '../ports.ts';
import { plainJsonCopy } from '../values/json-copy.ts';

export interface FlightWorld {
  readonly tenant: string;
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly sha256: Sha256;
  /** What a step brings is redacted before it is measured, cut or recorded. */
  readonly redactor: Redactor | null;
  /** Records what a call writes while it is under way. */
  readonly post: (fact: Fact) => void;
}

/** Largest result of a step, as JSON text; what is larger does not fit in an event. */
const MAX_OUTCOME_LENGTH = 480 * 1024;

/** Emissions of one call that may be on their way to the log before it is held up. */
const EMISSION_WINDOW = 512;

/** The effects of one run that are under way in this process. */
export class Flights {
  readonly #world: FlightWorld;
  readonly #performers: ReadonlyMap<string, Performer>;
  readonly #flights = new Map<string, Flight>();
  readonly #landed: (call: OpenCall, attempt: number, result: StepResult) => void;

  constructor(
    world: FlightWorld,
    performers: ReadonlyMap<string, Performer>,
    landed: (call: OpenCall, attempt: number, result: StepResult) => void,
  ) {
    this.#world = world;
    this.#performers = performers;
    this.#landed = landed;
  }

  get size(): number {
    return this.#flights.size;
  }

  has(callId: string): boolean {
    return this.#flights.has(callId);
  }

  /** Once for each call: the row that asks for it must be durable. One about which a human was asked is not started. */
  start(call: OpenCall, input: JsonObject): void {
    if (call.asked !== undefined || this.#flights.has(call.callId)) return;
    const { attempt } = call;
    const land = (result: StepResult) => this.#landed(call, attempt, result);
    const step = this.#performers.get(call.step);
    if (step === undefined) {
      const message = `This host has no step ${call.step}.`;
      land({ error: { code: 'capability_not_provided', message, retryable: false } });
      return;
    }
    const flight = new Flight(call, this.#world, land);
    this.#flights.set(call.callId, flight);
    flight.takeOff(step, input);
  }

  /** Aborts what the run no longer waits for. */
  keepOnly(calls: Readonly<Record<string, OpenCall>>): void {
    for (const [callId, flight] of this.#flights) {
      const call = calls[callId];
      if (call?.attempt === flight.attempt && call.asked === undefined) continue;
      flight.abort('The run no longer waits for this step.');
      this.#flights.delete(callId);
    }
  }
}

/**
 * One attempt of one call that is under way, and the context its function gets. A class, because there is one for every
 * step, and an object literal with accessors defines them anew each time.
 */
class Flight implements CallContext {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly callId: string;
  readonly attempt: number;
  readonly requestedSeq: number;
  readonly #step: string;
  readonly #world: FlightWorld;
  readonly #landed: (result: StepResult) => void;
  #controller: AbortController | null = null;
  #over = false;
  /** Emissions that are not durable yet, and who waits until there are fewer. */
  #unrecorded = 0;
  #room: PromiseWithResolvers<void> | null = null;
  #allRecorded: PromiseWithResolvers<void> | null = null;
  /** Why something that was emitted is not recorded, until somebody asks. */
  #refusal: unknown = null;
  /** Told of each emission; most calls make none. */
  #settled: ((refusal: unknown) => void) | null = null;

  constructor(call: OpenCall, world: FlightWorld, landed: (result: StepResult) => void) {
    this.runId = world.runId;
    this.nodeId = call.nodeId;
    this.callId = call.callId;
    this.attempt = call.attempt;
    this.requestedSeq = call.requestedSeq;
    this.#step = call.step;
    this.#world = world;
    this.#landed = landed;
  }

  get tenant(): string {
    return this.#world.tenant;
  }

  get contextId(): ContextId {
    return this.#world.contextId;
  }

  /** Starts the step. What comes of it lands once, later, unless the flight was aborted before. */
  takeOff(step: Performer, input: JsonObject): void {
    const { redactor } = this.#world;
    const failed = (error: unknown) => this.#land({ error: stepError(error, redactor) });
    let running: Promise<unknown>;
    try {
      running = Promise.resolve(step.run(input, this));
    } catch (error) {
      running = Promise.reject(error);
    }
    running.then((outcome) => this.#land(recordable(step, outcome, redactor)), failed);
  }

  #land(result: StepResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#landed(result);
  }

  abort(reason: string): void {
    this.#over = true;
    this.#controller?.abort(new Error(reason));
    this.#room?.resolve();
    this.#allRecorded?.reject(new Error(reason));
  }

  emit(rows: readonly Emission[]): Promise<void> | undefined {
    if (this.#over) return undefined;
    this.#unrecorded += 1;
    const { redactor, post } = this.#world;
    const clean = redactor === null ? rows : redactor.value(rows);
    this.#settled ??= (refusal) => this.#settle(refusal);
    post(emitted(this.callId, this.attempt, clean, this.#settled));
    if (this.#unrecorded < EMISSION_WINDOW) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  recorded(): Promise<void> {
    if (this.#over) return Promise.reject(new Error('This attempt is over.'));
    if (this.#unrecorded === 0) return this.#refusal === null ? Promise.resolve() : Promise.reject(this.#takeRefusal());
    if (this.#allRecorded === null) {
      this.#allRecorded = Promise.withResolvers<void>();
      // Who asked may have gone by the time the attempt is aborted.
      this.#allRecorded.promise.catch(() => undefined);
    }
    return this.#allRecorded.promise;
  }

  #takeRefusal(): unknown {
    const refusal = this.#refusal;
    this.#refusal = null;
    return refusal;
  }

  #settle(refusal: unknown): void {
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
    const { tenant, sha256 } = this.#world;
    const parts = ['openwop:activity:v2', tenant, this.runId, this.nodeId, this.callId, this.#step];
    return sha256(parts.join('\0'), 'base64url');
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over) this.#controller.abort();
    return this.#controller.signal;
  }
}

/** What JSON cannot carry must not be believed to be recorded: it is an error, now, and not a hole in the history. */
function recordable(step: Performer, outcome: unknown, redactor: Redactor | null): StepResult {
  try {
    const plain = plainJsonCopy(outcome ?? null);
    if (plain !== undefined) return { outcome: redactor === null ? plain : redactor.value(plain) };
    const text = JSON.stringify(outcome ?? null) as string | undefined;
    if (text === undefined) return { error: unrecordable(step, `is a ${typeof outcome}, which is not JSON`) };
    if (text.length > MAX_OUTCOME_LENGTH) return { error: tooLarge(step, text.length) };
    // What is recorded is what the run goes on with, so that a resumed run equals the first: dates, undefined and the like are gone here.
    const parsed = JSON.parse(text) as Json;
    const clean = redactor === null ? parsed : redactor.value(parsed);
    const length = clean === parsed ? text.length : JSON.stringify(clean).length;
    return length > MAX_OUTCOME_LENGTH ? { error: tooLarge(step, length) } : { outcome: clean };
  } catch (error) {
    const why = `is not JSON: ${thrownText(error)}`;
    return { error: unrecordable(step, redactor === null ? why : redactor.text(why)) };
  }
}

const unrecordable = (step: Performer, why: string): RunError => ({
  code: 'node_execution_failed',
  message: `The result of step ${step.typeId} ${why}.`,
  retryable: false,
});

const tooLarge = (step: Performer, length: number): RunError => ({
  code: 'event_too_large',
  message: `Step ${step.typeId} returned ${length} characters of JSON; at most ${MAX_OUTCOME_LENGTH} fit in an event. Return a reference instead.`,
  retryable: false,
});

/** An error nobody classified may well pass: it counts as retryable, within the node's retry settings. */
function stepError(error: unknown, redactor: Redactor | null): RunError {
  const clean = (text: string): string => (redactor === null ? text : redactor.text(text));
  if (isCairnError(error)) {
    const known = { code: error.code, message: clean(error.message), retryable: error.retryable };
    const details = detailsOf(error.details, redactor);
    return details === undefined ? known : { ...known, details };
  }
  // Redacted before it is cut, for a secret that is cut in two is not found.
  const message = quoted(clean(thrownText(error)), 2000);
  const code = codeOf(error);
  return {
    code: 'node_execution_failed',
    message: typeof code === 'string' ? `${message} (${quoted(clean(code), 60)})` : message,
    retryable: true,
  };
}

/** As errors of the system have one; some of what is thrown does not let itself be looked at. */
function codeOf(error: unknown): unknown {
  try {
    return (error as { code?: unknown } | null)?.code;
  } catch {
    return undefined;
  }
}

/** Only what JSON can carry. */
function detailsOf(details: unknown, redactor: Redactor | null): JsonObject | undefined {
  if (details === undefined) return undefined;
  const plain = plainJsonCopy(details);
  if (plain === undefined) return undefined;
  return (redactor === null ? plain : redactor.value(plain)) as JsonObject;
}
