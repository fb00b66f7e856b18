/**
 * The circuit breaker of a receiver, as a pure fold over attempt results: when to pause it and when to stop for good.
 */
import { z } from 'zod';

export const circuitShape = z.object({
  /** Failures since the last success. */
  consecutive: z.int(),
  /** Nothing is sent before this time; null while the circuit is closed. */
  openUntil: z.number().nullable(),
  /** How often the circuit opened or an event was abandoned, per day since the epoch, over the last week. */
  setbacks: z.array(z.tuple([z.int(), z.int()])),
});

export type Circuit = Readonly<z.infer<typeof circuitShape>>;

/** `probe`: one attempt may test whether the receiver has recovered. */
export type Gate = 'closed' | 'open' | 'probe' | 'failed';

export const OPENS_AFTER = 4;
export const OPEN_MS = 3_600_000;
export const FAILED_AFTER = 100;
const WINDOW_DAYS = 7;
const DAY_MS = 86_400_000;

export const closedCircuit: Circuit = { consecutive: 0, openUntil: null, setbacks: [] };

export function gateOf(circuit: Circuit, now: number): Gate {
  const total = recent(circuit, now).reduce((sum, [, count]) => sum + count, 0);
  if (total >= FAILED_AFTER) return 'failed';
  if (circuit.openUntil === null) return 'closed';
  return now < circuit.openUntil ? 'open' : 'probe';
}

export const afterSuccess = (circuit: Circuit): Circuit => ({ ...circuit, consecutive: 0, openUntil: null });

/** Opens the circuit after `OPENS_AFTER` consecutive failures. Each failed probe opens it again. */
export function afterFailure(circuit: Circuit, now: number): Circuit {
  const consecutive = circuit.consecutive + 1;
  if (consecutive < OPENS_AFTER) return { ...circuit, consecutive };
  // Attempts in flight when the circuit opened do not extend the pause.
  if (circuit.openUntil !== null && now < circuit.openUntil) return { ...circuit, consecutive };
  return { ...afterSetback(circuit, now), consecutive, openUntil: now + OPEN_MS };
}

/** Counts an abandoned event or an opened circuit. */
export function afterSetback(circuit: Circuit, now: number): Circuit {
  const today = Math.floor(now / DAY_MS);
  const days = new Map(recent(circuit, now));
  days.set(today, (days.get(today) ?? 0) + 1);
  return { ...circuit, setbacks: [...days] };
}

const recent = ({ setbacks }: Circuit, now: number): Circuit['setbacks'] =>
  setbacks.filter(([day]) => day > Math.floor(now / DAY_MS) - WINDOW_DAYS);
