/** Who may see rows of which type: the other thing the catalogue knows of a type, beside its payload. */

import type { operatorPayloads } from './cairn.ts';
import type { EventType } from './catalogue.ts';
import type { Audience } from './event.ts';

type OperatorType = keyof typeof operatorPayloads;

/** The compiler holds this to the payloads that are written down as operators'. */
const operatorTable = {
  'cairn.step.requested': true,
  'cairn.step.returned': true,
  'cairn.timer.set': true,
  'cairn.timer.fired': true,
  'cairn.cancel.requested': true,
  'cairn.callback.requested': true,
  'cairn.pause.requested': true,
  'cairn.model.requested': true,
  'cairn.model.returned': true,
  'cairn.model.abandoned': true,
  'cairn.memory.kept': true,
  'cairn.memory.dropped': true,
  'cairn.budget.granted': true,
  'cairn.budget.returned': true,
  'cairn.internal.thought': true,
  'cairn.internal.llm_call': true,
  'cairn.internal.checkpoint': true,
} as const satisfies Record<OperatorType, true>;

const operatorTypes: ReadonlySet<string> = new Set(Object.keys(operatorTable));

/** Asked for every row that is written. Only `cairn.` types are operators': the first letter spares most rows the look-up (45 ns a draft without, 30 with it). */
export const isOperatorType = (type: EventType): boolean => type[0] === 'c' && operatorTypes.has(type);

/** Types that a later version adds to one of these families are for operators, too. */
const operatorFamily = /^cairn\.(?:step|timer|cancel|callback|pause|model|memory|budget|internal)\./;

/** Who may see rows of a type, also of one this version does not know. */
export const audienceOf = (type: string): Audience =>
  operatorTypes.has(type) || operatorFamily.test(type) ? 'operator' : 'client';
