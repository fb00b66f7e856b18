/** Which events end a run. Apart from the payloads, so that a follower in a browser loads no schemas. */
import type { terminalPayloads } from './run.ts';

/** The compiler holds this to the payloads that are written down as ends. */
const ends = {
  'run.completed': true,
  'run.failed': true,
  'run.cancelled': true,
} as const satisfies Record<keyof typeof terminalPayloads, true>;

export type TerminalType = keyof typeof ends;

/** True for the one event of a run after which there is none. */
export const isTerminalType = (type: string): type is TerminalType => Object.hasOwn(ends, type);
