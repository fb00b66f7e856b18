/** A broken promise as text: what it was, where, how it came about, and the command that shows it again. */
import { inspect } from 'node:util';
import type { WorldResult } from './world.ts';

const replayCommand = (seed: number, steps: number): string => `npm run sim -- --seed ${seed} --steps ${steps} --trace`;

/** Null when the seed kept every promise. `steps` is what was asked for, so that the command repeats it. */
export function renderBreach({ breach, seed, trace }: WorldResult, steps: number): string | null {
  if (breach === null) return null;
  return [
    `seed ${seed} broke at step ${breach.step}: ${breach.invariant}`,
    inspect(breach.facts, { depth: 8, breakLength: 120 }),
    'last lines of the trace:',
    ...breach.last,
    `trace ${trace}`,
    `replay: ${replayCommand(seed, steps)}`,
  ].join('\n');
}
