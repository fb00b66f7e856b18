/** The ids that a run writes into its payloads, for tests that know the run. */
import { hash } from 'node:crypto';

export const idToken = (runId: string): string => hash('sha256', runId, 'hex').slice(0, 12);

/** The interrupt of a node, by its number among the interrupts of the run. */
export const interruptIdOf = (runId: string, nodeId: string, number = 0): string =>
  `int_${idToken(runId)}_${number}_${nodeId}`;

export const callIdOf = (runId: string, local: string): string => `call_${idToken(runId)}_${local}`;
