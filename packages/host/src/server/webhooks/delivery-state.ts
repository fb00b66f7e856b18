/** The delivery progress of one subscription. It is stored as JSON and survives a restart. */
import { type DeadLetter, type RunId, webhook } from '@cairn/protocol';
import { z } from 'zod';
import { type Circuit, circuitShape, closedCircuit } from './circuit.ts';

/** A row that was read but is not delivered yet. */
export interface PendingRow {
  readonly runId: RunId;
  readonly seq: number;
}

export interface DeliveryState {
  /** All rows up to this position were read. Each matching row is delivered, skipped, abandoned or in `pending`. */
  readonly position: string;
  readonly pending: readonly PendingRow[];
  readonly circuit: Circuit;
  readonly delivered: number;
  readonly lastError: string | null;
  /** The newest abandoned deliveries. */
  readonly deadLetters: readonly DeadLetter[];
}

/** How many abandoned deliveries to keep; the rows themselves stay in the log. */
export const KEPT_DEAD_LETTERS = 20;

const shape = z.object({
  position: z.string(),
  pending: z.array(z.tuple([z.string(), z.int()])),
  circuit: circuitShape,
  delivered: z.int(),
  lastError: z.string().nullable(),
  deadLetters: webhook.shape.deadLetters,
});

/** Starts with the rows after a position in the log. */
export const newDeliveryState = (position: string): DeliveryState => ({
  position,
  pending: [],
  circuit: closedCircuit,
  delivered: 0,
  lastError: null,
  deadLetters: [],
});

export const renderState = (state: DeliveryState): string =>
  JSON.stringify({ ...state, pending: state.pending.map(({ runId, seq }) => [runId, seq]) });

export function parseState(text: string): DeliveryState {
  const { pending, ...state } = shape.parse(JSON.parse(text));
  return { ...state, pending: pending.map(([runId, seq]) => ({ runId: runId as RunId, seq })) };
}
