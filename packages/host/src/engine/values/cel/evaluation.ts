/** One evaluation of a compiled expression. Every step charges its budget before it works. */

import type { Json } from '@cairn/protocol';
import { type CostBudget, spend } from '../cost-budget.ts';
import { Failure, type Kind, kindOf } from './cel-values.ts';
import { prices } from './prices.ts';

/** The data that an expression can read. */
export interface Scope {
  /** The run's inputs. */
  readonly inputs: Json;
  readonly variables: Json;
  /** The latest outputs of every node, by node id. */
  readonly outputs: Json;
  /** The outputs of the edge's source node. */
  readonly output: Json;
  readonly channels: Json;
}

export interface Frame {
  readonly budget: CostBudget;
  readonly scope: Scope;
  /** The variables of macros, by their depth. */
  readonly locals: unknown[];
}

export type Step = (frame: Frame) => unknown;

/** A compiled part of an expression. Its kind is `dyn` if it depends on data. */
export interface Part {
  readonly step: Step;
  readonly kind: Kind | 'dyn';
}

/** Throws a Failure with the operator's name when a value has the wrong kind. */
export function bool(value: unknown, of: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new Failure(`${of} needs a bool, got ${kindOf(value)}`);
}

/**
 * The result of a step, or its Failure. A budget that is spent stops everything: what swallows failures must not hide
 * it.
 */
export function attempt(step: Step, frame: Frame): unknown {
  try {
    return step(frame);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    spend(frame.budget, prices.failure);
    return error;
  }
}
