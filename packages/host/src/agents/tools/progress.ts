/** Throttles the progress of a call to a few rows a second. The first and the last report are always written. */
import type { JsonObject } from '@cairn/protocol';
import type { Emission } from '../../engine/ports.ts';
import type { ProgressSteps, ToolContext } from './tool.ts';

export interface ProgressReport {
  readonly share: number;
  readonly message: string | undefined;
  readonly steps: ProgressSteps;
}

export interface ProgressPorts {
  readonly now: () => number;
  readonly after: (ms: number, wake: () => void) => () => void;
  readonly write: (report: ProgressReport) => void;
}

/** At most four rows a second for each call. */
const EVERY_MS = 250;

export class Progress {
  readonly #ports: ProgressPorts;
  #share = 0;
  #message: string | undefined;
  #steps: ProgressSteps = {};
  #isHeld = false;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #callOff: (() => void) | null = null;

  constructor(ports: ProgressPorts) {
    this.#ports = ports;
  }

  /** A share that is not a number changes only the message. */
  tell(share: number, message: string | undefined, steps: ProgressSteps | undefined): void {
    if (typeof share === 'number' && share > this.#share) this.#share = Math.min(share, 1);
    this.#message = typeof message === 'string' ? message : undefined;
    this.#steps = steps ?? {};
    this.#isHeld = true;
    const rest = this.#writtenAt + EVERY_MS - this.#ports.now();
    if (rest <= 0) this.#write();
    // A clock that is set back must not delay a report for longer than the interval.
    else this.#callOff ??= this.#ports.after(Math.min(rest, EVERY_MS), () => this.#write());
  }

  /** Ends the call: writes the last pending report, and nothing after it. */
  end(): void {
    if (this.#isHeld) this.#write();
    this.#callOff?.();
  }

  #write(): void {
    this.#callOff?.();
    this.#callOff = null;
    this.#isHeld = false;
    this.#writtenAt = this.#ports.now();
    this.#ports.write({ share: this.#share, message: this.#message, steps: this.#steps });
  }
}

/** Applied after redaction: a secret that is cut in two would not be found. */
const MAX_MESSAGE = 500;

/** The row of a report. From the second entry into a tool on it says which entry it is of: each begins at 0 again. */
export function progressRow(
  { callId, agentId, attempt }: Pick<ToolContext, 'callId' | 'agentId' | 'attempt'>,
  toolName: string,
  { share, message, steps, clean }: ProgressReport & { readonly clean: (words: string) => string },
): Emission {
  const words = message === undefined ? {} : { message: clean(message).slice(0, MAX_MESSAGE) };
  const step = typeof steps.step === 'string' ? clean(steps.step) : undefined;
  const again = attempt > 1 ? { attempt } : {};
  const payload = { callId, toolName, agentId, progress: share, ...words, ...fitting({ ...steps, step }), ...again };
  return { type: 'cairn.tool.progress', payload };
}

/** Leaves out what has no meaning, as a message does: a report never fails a tool. */
function fitting({ step, stepsCompleted, stepsTotal, indeterminate, etaMs }: ProgressSteps): JsonObject {
  const counts = Object.entries({ stepsCompleted, stepsTotal, etaMs }).flatMap(([name, count]) =>
    typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? [[name, count] as const] : [],
  );
  return {
    ...(step !== undefined && { step: step.slice(0, MAX_MESSAGE) }),
    ...Object.fromEntries(counts),
    ...(indeterminate === true && { indeterminate }),
  };
}
