/** Which rules a run decides by: those of the engine version that it began with. */
import type { RunView } from '@cairn/protocol';

/** Whether the run began under this version of the rules, or a later one. */
export const hasRulesOf = (version: number, { engineVersion = '1' }: Pick<RunView, 'engineVersion'>): boolean =>
  Number(engineVersion) >= version;
