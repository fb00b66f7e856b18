/** The catalogue: every event type that this version knows, with its payload schema. `audiences.ts` and `terminal-types.ts` hold the rest. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { agentPayloads } from './agent.ts';
import { clientPayloads, operatorPayloads } from './cairn.ts';
import { enginePayloads } from './engine.ts';
import { interruptPayloads } from './interrupt.ts';
import { modelPayloads } from './model.ts';
import { nodePayloads } from './node.ts';
import { orchestrationPayloads } from './orchestration.ts';
import { runPayloads } from './run.ts';

/** Types that Cairn reads but never writes; their payload stays open. */
const named = z.looseObject({});
const namedPayloads = {
  'eval.started': named,
  'eval.scored': named,
  'eval.completed': named,
  'deployment.promoted': named,
  'deployment.rolled-back': named,
  'deployment.canary.adjusted': named,
  'deployment.state.changed': named,
  'roster.run.initiated': named,
  'trigger.subscription.state.changed': named,
  'trigger.delivery.attempted': named,
  'connector.auth_expired': named,
} as const;

export const eventPayloads = {
  ...runPayloads,
  ...nodePayloads,
  ...interruptPayloads,
  ...enginePayloads,
  ...agentPayloads,
  ...orchestrationPayloads,
  ...modelPayloads,
  ...namedPayloads,
  ...operatorPayloads,
  ...clientPayloads,
} as const satisfies Record<string, z.ZodType>;

export type EventType = keyof typeof eventPayloads;
/** The payload of an event type. Open at run time; see `DataOf`. */
export type PayloadOf<Type extends EventType> = DataOf<(typeof eventPayloads)[Type]>;

export const eventTypes = Object.keys(eventPayloads) as readonly EventType[];

/** True for a type this version knows. */
export const isEventType = (type: string): type is EventType => Object.hasOwn(eventPayloads, type);

/** The form of a vendor's type: at least two segments, the first not reserved. */
export const eventTypePattern =
  /^(?!(?:openwop|core|community|vendor|private|local)\.)[a-z][a-zA-Z0-9_-]*(\.[a-zA-Z0-9_-]+)+$/;
