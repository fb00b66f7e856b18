/** Input of every figure group: where to write, how long to measure, where to report. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { FlushCounter } from './device-flushes.ts';
import type { Figure } from './figure.ts';

export interface Plan {
  /** Lies on the disk whose flushes are counted. Emptied when the benchmark ends. */
  readonly folder: string;
  readonly flushes: FlushCounter;
  /** Fewer and shorter rounds: proves that everything works, not how fast it is. */
  readonly quick: boolean;
  readonly rounds: number;
  readonly progress: (text: string) => void;
}

export interface Group {
  readonly name: string;
  readonly about: string;
  /** Names of the figures the group produces. */
  readonly figures: readonly string[];
  /** `wanted` are the figures that will be printed; a group may leave out the others. */
  run(plan: Plan, wanted: readonly string[]): Promise<readonly Figure[]>;
}

/** Creates an empty folder for one store. */
export function freshFolder(plan: Plan, name: string): string {
  return mkdtempSync(join(plan.folder, `${name}-`));
}
