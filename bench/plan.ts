/** What every group of figures gets: where to write, how long to measure, whom to tell. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { FlushCounter } from './device-flushes.ts';
import type { Figure } from './figure.ts';

export interface Plan {
  /** On the disk whose flushes are counted; emptied when the benchmark ends. */
  readonly folder: string;
  readonly flushes: FlushCounter;
  /** Fewer and shorter rounds: shows that everything works, not what it reaches. */
  readonly quick: boolean;
  readonly rounds: number;
  readonly progress: (text: string) => void;
}

export interface Group {
  readonly name: string;
  readonly about: string;
  /** Names of the figures it gives. */
  readonly figures: readonly string[];
  run(plan: Plan): Promise<readonly Figure[]>;
}

/** A new empty folder for one store. */
export function freshFolder(plan: Plan, name: string): string {
  return mkdtempSync(join(plan.folder, `${name}-`));
}
