/** Which events end a run. Separate from the schemas, so that a browser client loads none. */
import type { terminalPayloads } from './run.ts';

/** The compiler checks this table against the terminal payloads. */
const ends = {
  'run.completed': true,
  'run.failed': true,
  'run.cancelled': true,
} as const satisfies Record<keyof typeof terminalPayloads, true>;

export type TerminalType = keyof typeof ends;

/** True for an event that ends its run. */
export const isTerminalType = (type: string): type is TerminalType => Object.hasOwn(ends, type);
