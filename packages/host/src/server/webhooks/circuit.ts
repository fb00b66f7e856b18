/** When a receiver that fails is left alone, and when it is given up: a pure fold of what became of the attempts. */
import { z } from 'zod';

export const circuitShape = z.object({
  /** Failures since the last success. */
  consecutive: z.int(),
  /** Until when nothing is sent; null while the receiver is not left alone. */
  openUntil: z.number().nullable(),
  /** How often the receiver was left alone or an event given up, by day since the epoch; the last week. */
  setbacks: z.array(z.tuple([z.int(), z.int()])),
});

export type Circuit = Readonly<z.infer<typeof circuitShape>>;

/** `probe`: one attempt may show whether the receiver is back. */
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

/** A single failure is only counted; a row of them leaves the receiver alone, and each failed probe does so again. */
export function afterFailure(circuit: Circuit, now: number): Circuit {
  const consecutive = circuit.consecutive + 1;
  if (consecutive < OPENS_AFTER) return { ...circuit, consecutive };
  // Attempts that were under way when it opened do not keep it open for longer.
  if (circuit.openUntil !== null && now < circuit.openUntil) return { ...circuit, consecutive };
  return { ...afterSetback(circuit, now), consecutive, openUntil: now + OPEN_MS };
}

/** An event was given up, or the receiver left alone. */
export function afterSetback(circuit: Circuit, now: number): Circuit {
  const today = Math.floor(now / DAY_MS);
  const days = new Map(recent(circuit, now));
  days.set(today, (days.get(today) ?? 0) + 1);
  return { ...circuit, setbacks: [...days] };
}

const recent = ({ setbacks }: Circuit, now: number): Circuit['setbacks'] =>
  setbacks.filter(([day]) => day > Math.floor(now / DAY_MS) - WINDOW_DAYS);
