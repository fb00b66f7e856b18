/** Performs effects: calls a step's function, and turns whatever it does into a result that can be recorded. */
import { isCairnError, type Json, type JsonObject, quoted, type RunId } from '@cairn/protocol';
import type { Sha256, Step, StepContext } from './ports.ts';
import type { OpenCall, RunError } from './state.ts';

/** How a step ended. */
export type StepResult = { readonly outcome: Json } | { readonly error: RunError };

/** One attempt of one call that is under way. */
interface Flight {
  readonly callId: string;
  readonly attempt: number;
  abort(reason: string): void;
}

export interface FlightWorld {
  readonly tenant: string;
  readonly runId: RunId;
  readonly sha256: Sha256;
}

/** Largest result of a step, as JSON text; what is larger does not fit in an event. */
const MAX_OUTCOME_LENGTH = 480 * 1024;

/** The effects of one run that are under way in this process. */
export class Flights {
  readonly #world: FlightWorld;
  readonly #steps: ReadonlyMap<string, Step>;
  readonly #flights = new Map<string, Flight>();
  readonly #landed: (call: OpenCall, attempt: number, result: StepResult) => void;

  constructor(
    world: FlightWorld,
    steps: ReadonlyMap<string, Step>,
    landed: (call: OpenCall, attempt: number, result: StepResult) => void,
  ) {
    this.#world = world;
    this.#steps = steps;
    this.#landed = landed;
  }

  has(callId: string): boolean {
    return this.#flights.has(callId);
  }

  /** Once for each call: the row that asks for it must be durable. One about which a human was asked is not started. */
  start(call: OpenCall | undefined): void {
    if (call === undefined || call.asked !== undefined || this.#flights.has(call.callId)) return;
    const { attempt } = call;
    const land = (result: StepResult) => this.#landed(call, attempt, result);
    const step = this.#steps.get(call.step);
    if (step === undefined) {
      const message = `This host has no step ${call.step}.`;
      land({ error: { code: 'capability_not_provided', message, retryable: false } });
      return;
    }
    this.#flights.set(call.callId, takeOff(step, call, this.#world, land));
  }

  /** Aborts what the run no longer waits for. */
  keepOnly(calls: Readonly<Record<string, OpenCall>>): void {
    for (const [callId, flight] of this.#flights) {
      if (calls[callId]?.attempt === flight.attempt) continue;
      flight.abort('The run no longer waits for this step.');
      this.#flights.delete(callId);
    }
  }
}

/** Starts the step. `landed` is called once, later, unless the flight was aborted before. */
function takeOff(step: Step, call: OpenCall, world: FlightWorld, landed: (result: StepResult) => void): Flight {
  let controller: AbortController | null = null;
  let over = false;
  const context: StepContext = {
    runId: world.runId,
    nodeId: call.nodeId,
    callId: call.callId,
    attempt: call.attempt,
    // Both cost more than most steps use: made when asked for.
    get idempotencyKey() {
      return world.sha256(
        ['openwop:activity:v2', world.tenant, world.runId, call.nodeId, call.callId, call.step].join('\0'),
        'base64url',
      );
    },
    get signal() {
      controller ??= new AbortController();
      if (over) controller.abort();
      return controller.signal;
    },
  };
  const land = (result: StepResult) => {
    if (over) return;
    over = true;
    landed(result);
  };
  // A copy: what the function does to its input must not reach the state the run is decided from.
  perform(step, JSON.parse(JSON.stringify(call.input)) as JsonObject, context).then(land);
  return {
    callId: call.callId,
    attempt: call.attempt,
    abort(reason) {
      over = true;
      controller?.abort(new Error(reason));
    },
  };
}

async function perform(step: Step, input: JsonObject, context: StepContext): Promise<StepResult> {
  try {
    return recordable(step, await step.run(input, context));
  } catch (error) {
    return { error: stepError(error) };
  }
}

/** What JSON cannot carry must not be believed to be recorded: it is an error, now, and not a hole in the history. */
function recordable(step: Step, outcome: unknown): StepResult {
  let text: string | undefined;
  try {
    text = JSON.stringify(outcome ?? null);
  } catch (error) {
    return { error: unrecordable(step, `is not JSON: ${String(error)}`) };
  }
  if (text === undefined) return { error: unrecordable(step, `is a ${typeof outcome}, which is not JSON`) };
  if (text.length > MAX_OUTCOME_LENGTH) {
    return {
      error: {
        code: 'event_too_large',
        message: `Step ${step.typeId} returned ${text.length} characters of JSON; at most ${MAX_OUTCOME_LENGTH} fit in an event. Return a reference instead.`,
        retryable: false,
      },
    };
  }
  // What is recorded is what the run goes on with, so that a resumed run equals the first: dates, undefined and the like are gone here.
  return { outcome: JSON.parse(text) as Json };
}

const unrecordable = (step: Step, why: string): RunError => ({
  code: 'node_execution_failed',
  message: `The result of step ${step.typeId} ${why}.`,
  retryable: false,
});

/** An error nobody classified may well pass: it counts as retryable, within the node's retry settings. */
function stepError(error: unknown): RunError {
  if (isCairnError(error)) return { code: error.code, message: error.message, retryable: error.retryable };
  const message = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown } | null)?.code;
  return {
    code: 'node_execution_failed',
    message: typeof code === 'string' ? `${quoted(message, 2000)} (${quoted(code, 60)})` : quoted(message, 2000),
    retryable: true,
  };
}
